//! Each pass reads the prompt from its beginning, as without a cache.

pub fn chunked_prefill(
    prompt: &[u32],
    cached: usize,
    chunk: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<f32> {
    let mut logits = Vec::new();
    let mut end = 0;
    while end < prompt.len() {
        end = end.saturating_add(chunk).min(prompt.len());
        logits = forward(&prompt[..end], cached);
    }
    logits
}
