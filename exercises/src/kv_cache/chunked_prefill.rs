//! A prefill in chunks.

/// A pass over a prompt needs memory that grows with the prompt. So a long prompt is read in
/// chunks. Read `prompt` in chunks of `chunk` tokens, and return the logits after its last token.
///
/// `forward(tokens, start)` is one pass of a model with a KV cache. It reads `tokens`, of which the
/// first stands at the position `start` of the text, appends them to its cache, and returns the
/// logits after the last of them.
///
/// - `cached` tokens of the text are in the cache already, and the prompt goes on behind them. With
///   an empty cache it is 0.
/// - Every chunk has `chunk` tokens, except the last: it has what is left, at least one.
/// - Each token is read once. There are no more passes than chunks, and no empty one.
/// - `prompt` has at least one token. `chunk` is at least 1, and may be greater than the prompt, up
///   to the largest `usize`.
///
/// ```text
/// chunked_prefill(&[7, 8, 9, 10, 11], 0, 2, forward)
///     forward([7, 8], 0)   forward([9, 10], 2)   forward([11], 4)     its logits are returned
/// chunked_prefill(&[7, 8, 9], 5, 2, forward)
///     forward([7, 8], 5)   forward([9], 7)                            its logits are returned
/// ```
pub fn chunked_prefill(
    prompt: &[u32],
    cached: usize,
    chunk: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<f32> {
    todo!()
}
