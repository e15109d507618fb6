//! A prefill in chunks.
//!
//! Why: the position of a chunk's first token is the number of tokens in the cache, and each pass
//! adds as many as it read. Count what was read, and that stays true for a shorter last chunk and
//! for a cache that was not empty. Only the last pass ends at the end of the prompt, so only its
//! logits predict what comes next.
//!
//! What it costs: the same rows as in one go, but the weights are read once for each chunk instead
//! of once in all. In return no pass is long: the others in a batch wait only for a chunk, not for
//! a whole prompt.
//!
//! A common wrong turn: taking the number of the chunk times its length as the position. That is
//! right until the last chunk, which is shorter.

/// Reads `prompt` in chunks of `chunk` tokens behind `cached` ones, and returns the logits after
/// its last token.
///
/// `forward(tokens, start)` reads tokens of which the first stands at the position `start`.
pub fn chunked_prefill(
    prompt: &[u32],
    cached: usize,
    chunk: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<f32> {
    let mut start = cached;
    let mut logits = Vec::new();
    for tokens in prompt.chunks(chunk) {
        logits = forward(tokens, start);
        start += tokens.len();
    }
    logits
}
