//! The outcome of a finished sequence.

use std::time::Duration;

use serde::Serialize;

use super::FinishReason;
use crate::sampling::TokenLogprobs;

/// Why a sequence ended, its token counts, its preemptions and its timings.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// Why the sequence ended.
    pub finish_reason: FinishReason,
    pub usage: Usage,
    /// One for each prompt token but the first, where
    /// [`GenerateRequest::prompt_logprobs`](super::GenerateRequest::prompt_logprobs) asked for it;
    /// fewer, if the sequence ended before it had read its prompt.
    pub prompt_logprobs: Vec<TokenLogprobs>,
    /// How often the sequence lost its blocks of the KV cache to others, and was computed again.
    pub preemptions: usize,
    pub timings: Timings,
}

/// What is known of a sequence once its prompt is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Prefill {
    /// As in [`Usage::prompt_tokens`].
    pub prompt_tokens: usize,
    /// As in [`Usage::cached_tokens`].
    pub cached_tokens: usize,
    /// As in [`Completion::prompt_logprobs`].
    pub prompt_logprobs: Vec<TokenLogprobs>,
}

/// The token counts of a sequence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Tokens in the prompt.
    pub prompt_tokens: usize,
    /// Tokens generated and emitted, without the stop token.
    pub completion_tokens: usize,
    /// Tokens of the prompt that the prefix cache had, so that they were not computed; not those
    /// that the sequence found again after a preemption.
    pub cached_tokens: usize,
    /// Draft tokens that the model has read.
    pub drafted_tokens: usize,
    /// Those of them that were accepted, and are in the text.
    pub accepted_tokens: usize,
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
