//! Positions count from the beginning of the prompt, not of the text.

pub fn chunked_prefill(
    prompt: &[u32],
    cached: usize,
    chunk: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<f32> {
    let mut start = 0;
    let mut logits = Vec::new();
    for tokens in prompt.chunks(chunk) {
        logits = forward(tokens, start);
        start += tokens.len();
    }
    logits
}
