//! A prompt in chunks, from the token budget that the decodes leave.
//!
//! Why: a step takes longer the more tokens it has, once they are many. So a budget bounds how long
//! all others wait for the next token, and a prompt has to be content with what the decodes leave.
//! `saturating_sub` keeps that from falling below zero, and `max(1)` keeps the prompt going all the
//! same: the step is one token longer for it, and no prompt waits forever.
//!
//! What it costs: TTFT. The reader of a long prompt waits for several steps that also serve others.
//! And all weights are read once for each chunk, where one pass over the whole prompt would read
//! them once.
//!
//! A common wrong turn: asking for logits of every chunk. They are right, but no token is drawn
//! from them, and the head is the largest matrix of a small model. Another: recognising the last
//! chunk by its being shorter than the budget. A prompt that ends with the budget has no shorter
//! one.

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

/// The chunks in which a prompt of `prompt` tokens is read, one at each step.
pub fn prompt_chunks(prompt: usize, token_budget: usize, decodes: &[usize]) -> Vec<Chunk> {
    let mut decodes = decodes.iter().copied();
    let mut chunks = Vec::new();
    let mut start = 0;
    while start < prompt {
        let left = token_budget.saturating_sub(decodes.next().unwrap_or(0)).max(1);
        let tokens = left.min(prompt - start);
        let wants_logits = start + tokens == prompt;
        chunks.push(Chunk { start, tokens, wants_logits });
        start += tokens;
    }
    chunks
}
