//! The settings of a scheduler.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The settings of a scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineConfig {
    /// The policy that decides which sequences take part in a step.
    pub policy: Policy,
    /// The most sequences in a step, at least 1. Where sequences join at any step, those whose tokens
    /// are still being chosen leave their slots to others.
    pub max_running: usize,
    /// The most sequences that were admitted and have not ended, at least `max_running` and 1: those
    /// that do not run are paused, or wait to go on.
    pub max_admitted: usize,
    /// The most tokens in a step, at least 1. Decodes come first, prompts share what they leave;
    /// but every running sequence decodes and one prompt token is read, whatever the budget.
    pub token_budget: usize,
    /// Whether full blocks are found again by their tokens.
    pub prefix_cache: bool,
}

/// Which sequences take part in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// One sequence, to its end, then the next.
    OneAtATime,
    /// As many as may run start together; the next ones start when the last of them has ended.
    StaticBatch,
    /// Sequences join at any step, and read their prompt in one step.
    ContinuousBatch,
    /// Sequences join at any step, and read their prompt in chunks, within the token budget.
    ChunkedPrefill,
}

impl Policy {
    /// All policies, in historical order.
    pub const ALL: [Self; 4] = [
        Self::OneAtATime,
        Self::StaticBatch,
        Self::ContinuousBatch,
        Self::ChunkedPrefill,
    ];
}

impl fmt::Display for Policy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::OneAtATime => "one at a time",
            Self::StaticBatch => "static batch",
            Self::ContinuousBatch => "continuous batch",
            Self::ChunkedPrefill => "chunked prefill",
        })
    }
}

impl EngineConfig {
    /// The most tokens in a step under this policy: only chunked prefill has a budget.
    pub(crate) fn step_tokens(&self) -> usize {
        match self.policy {
            Policy::ChunkedPrefill => self.token_budget,
            _ => usize::MAX,
        }
    }
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            policy: Policy::ChunkedPrefill,
            max_running: 64,
            max_admitted: 128,
            token_budget: 512,
            prefix_cache: true,
        }
    }
}
