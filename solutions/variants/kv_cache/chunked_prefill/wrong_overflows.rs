//! The start grows by the length of a chunk, which may be greater than what is left of numbers.

pub fn chunked_prefill(
    prompt: &[u32],
    cached: usize,
    chunk: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<f32> {
    let mut start = cached;
    let mut logits = Vec::new();
    for t in prompt.chunks(chunk) {
        logits = forward(t, start);
        start += chunk;
    }
    logits
}
