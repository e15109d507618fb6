//! What is known of a sequence once it has ended.

use std::time::Duration;

use serde::Serialize;

use super::FinishReason;

/// How a sequence ended, and what it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// In tokens.
    pub usage: Usage,
    /// In time.
    pub timings: Timings,
}

/// How many tokens a sequence took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Those it started from.
    pub prompt_tokens: usize,
    /// Those that were generated and handed over; the token that ended the text is not.
    pub completion_tokens: usize,
}

/// How long a sequence took. All but `tpot` count from when it was submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timings {
    /// Until it joined the batch.
    pub queue: Duration,
    /// Time to first token: until it was chosen. None where there is none.
    pub ttft: Option<Duration>,
    /// Time per output token, the first one not counted. None with fewer than two.
    pub tpot: Option<Duration>,
    /// Until it ended.
    pub total: Duration,
}
