//! A prompt in chunks, from the token budget that the decodes leave.

/// The part of a prompt that one step computes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Chunk {
    /// The position of its first token in the prompt, from 0.
    pub start: usize,
    /// How many tokens it has.
    pub tokens: usize,
    /// Whether the step has to compute logits for its last token.
    pub wants_logits: bool,
}

/// A long prompt in a single step would make every other reader wait. So a step has a token budget,
/// and the prompt gets what the decodes leave. Return the chunks in which a prompt of `prompt`
/// tokens is read, one at each step.
///
/// - A step computes `token_budget` tokens. `decodes[i]` is how many sequences decode at step `i`:
///   each of them takes one token of the budget, and comes before the prompt. After the end of
///   `decodes`, none decodes any more.
/// - A chunk has as many tokens as are left of the budget, and no more than are left of the prompt.
///   If the decodes leave nothing, it still has one token: otherwise a busy server would never read
///   the prompt.
/// - Logits are wanted for the last token of the prompt, and for no other: the first new token is
///   drawn from them.
/// - `prompt` and `token_budget` are at least 1. `token_budget` and `decodes` may be as large as
///   `usize::MAX`, which programs use for "no limit": no sum may overflow. A prompt has at most
///   100,000 tokens.
///
/// ```text
/// prompt_chunks(10, 4, &[1, 4, 2])
///
/// step   decodes   chunk
/// 0      1         3 tokens from 0
/// 1      4         1 token  from 3       nothing was left
/// 2      2         2 tokens from 4
/// 3      -         4 tokens from 6       wants logits
/// ```
pub fn prompt_chunks(prompt: usize, token_budget: usize, decodes: &[usize]) -> Vec<Chunk> {
    todo!()
}
