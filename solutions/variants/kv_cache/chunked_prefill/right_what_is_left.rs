//! By cutting the front off what is left.

pub fn chunked_prefill(
    prompt: &[u32],
    cached: usize,
    chunk: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<f32> {
    let mut left = prompt;
    loop {
        let (now, later) = left.split_at(chunk.min(left.len()));
        let logits = forward(now, cached + prompt.len() - left.len());
        if later.is_empty() {
            return logits;
        }
        left = later;
    }
}
