//! The outcome of a finished sequence.

use std::time::Duration;

use serde::Serialize;

use super::FinishReason;

/// Why a sequence ended, its token counts and its timings.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Why the sequence ended.
    pub finish_reason: FinishReason,
    pub usage: Usage,
    pub timings: Timings,
}

/// The token counts of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens in the prompt.
    pub prompt_tokens: usize,
    /// Tokens generated and emitted, without the stop token.
    pub completion_tokens: usize,
}

/// The timings of a sequence. All but `tpot` count from submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timings {
    /// Time in the queue.
    pub queue: Duration,
    /// Time to first token, if there was one.
    pub ttft: Option<Duration>,
    /// Time per output token after the first; none with fewer than two tokens.
    pub tpot: Option<Duration>,
    /// Time until the sequence ended.
    pub total: Duration,
}
