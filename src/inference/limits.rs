//! The limits on concurrent work.

use crate::engine::EngineConfig;

/// The limits of an [`Inference`](super::Inference).
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Items that a stream holds before its job's sequences pause.
    pub(super) stream_capacity: usize,
    /// Sequences in a step.
    pub(super) max_running: usize,
    /// Admitted sequences that do not run (paused or preempted), beside `max_running`.
    pub(super) max_paused: usize,
    /// Sequences in the queue.
    pub(super) max_waiting: usize,
    /// Prompt tokens that a sequence prefills in one step.
    pub(super) chunk: usize,
    /// Tokens that all sequences together compute in one step.
    pub(super) token_budget: usize,
    /// Whether sequences share the blocks of equal prefixes.
    pub(super) prefix_cache: bool,
}

impl Default for Limits {
    fn default() -> Self {
        let EngineConfig { token_budget, prefix_cache, .. } = EngineConfig::default();
        Self {
            stream_capacity: 16,
            max_running: 64,
            max_paused: 64,
            max_waiting: 1024,
            chunk: 256,
            token_budget,
            prefix_cache,
        }
    }
}

impl Limits {
    /// The settings of the scheduler.
    pub(super) fn engine(&self) -> EngineConfig {
        EngineConfig {
            max_running: self.max_running,
            max_admitted: self.max_running.saturating_add(self.max_paused),
            token_budget: self.token_budget,
            prefix_cache: self.prefix_cache,
            ..EngineConfig::default()
        }
    }
}
