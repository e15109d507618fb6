//! What an engine has done.

use std::ops::Add;

/// What an engine has done so far. Each number only grows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Steps that computed anything.
    pub steps: u64,
    /// Tokens computed during prefill: of prompts, and of sequences that are computed again after a
    /// preemption. Not those that the prefix cache had.
    pub prefill_tokens: u64,
    /// Tokens computed during decode, one for each sequence in a step.
    pub decode_tokens: u64,
    /// Draft tokens computed.
    pub drafted_tokens: u64,
    /// Draft tokens that were sampled too, and so are tokens of the text.
    pub accepted_tokens: u64,
    /// How often a sequence lost blocks that it had computed.
    pub preemptions: u64,
}

impl Add for EngineStats {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            prefill_tokens: self.prefill_tokens + other.prefill_tokens,
            decode_tokens: self.decode_tokens + other.decode_tokens,
            drafted_tokens: self.drafted_tokens + other.drafted_tokens,
            accepted_tokens: self.accepted_tokens + other.accepted_tokens,
            preemptions: self.preemptions + other.preemptions,
        }
    }
}
