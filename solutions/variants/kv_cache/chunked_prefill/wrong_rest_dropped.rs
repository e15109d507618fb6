//! Whole chunks only: the rest of the prompt is never read.

pub fn chunked_prefill(
    prompt: &[u32],
    cached: usize,
    chunk: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<f32> {
    let mut start = cached;
    let mut logits = Vec::new();
    for tokens in prompt.chunks_exact(chunk) {
        logits = forward(tokens, start);
        start += tokens.len();
    }
    logits
}
