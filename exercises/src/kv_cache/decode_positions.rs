//! A bug hunt: a cached loop that goes wrong at the second token.

/// Generates `max_tokens` tokens after `prompt`, always the most likely one, with a KV cache.
///
/// `forward(tokens, start)` is one pass of a model with a cache. It reads `tokens`, of which the
/// first stands at the position `start` of the text, appends them to the cache, and returns the
/// logits after the last of them. `prompt` has at least one token; `max_tokens` is at least 1.
///
/// **What was observed.** The text reads well. But compare it with the naive loop: the first new
/// token always agrees, and from the second on the texts often differ. A count is wrong too. For a
/// prompt of 5 tokens and 4 new ones the chapter promises that 5 + 4 - 1 = 8 rows are computed, and
/// this loop computes 9.
///
/// Find the reason for each of the two, and fix it. What should be: the tokens of the naive loop,
/// one pass for the prompt and one for each further token, and `prompt.len() + max_tokens - 1` rows
/// in all. Of equal logits the first is the most likely. For one new token that is a single pass:
///
/// ```text
/// cached(&[7, 8, 9], 1, forward)
///     forward([7, 8, 9], 0)   its best token is the text
/// ```
pub fn cached(
    prompt: &[u32],
    max_tokens: usize,
    forward: &mut dyn FnMut(&[u32], usize) -> Vec<f32>,
) -> Vec<u32> {
    let mut output = Vec::new();
    let mut logits = forward(prompt, 0);
    while output.len() < max_tokens {
        let token = most_likely(&logits);
        output.push(token);
        logits = forward(&[token], prompt.len() + output.len());
    }
    output
}

fn most_likely(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (id, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = id;
        }
    }
    best as u32
}
