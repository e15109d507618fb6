//! The logits after the first chunk are returned.

pub fn chunked_prefill(
    prompt: &[u32],
    cached: usize,
    chunk: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<f32> {
    let mut start = cached;
    let mut first = None;
    for tokens in prompt.chunks(chunk) {
        let logits = forward(tokens, start);
        first.get_or_insert(logits);
        start += tokens.len();
    }
    first.unwrap()
}
