//! How much there may be at once.

/// The bounds of an [`Inference`](super::Inference).
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Items that wait for a job's reader before its sequences pause.
    pub(super) stream_capacity: usize,
    /// Sequences that take part in a step.
    pub(super) max_running: usize,
    /// Sequences that are in the batch beside those.
    pub(super) max_paused: usize,
    /// Sequences that wait for their turn.
    pub(super) max_waiting: usize,
    /// Tokens of a prompt that are read in one step.
    pub(super) chunk: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            stream_capacity: 16,
            max_running: 64,
            max_paused: 64,
            max_waiting: 1024,
            chunk: 256,
        }
    }
}

impl Limits {
    /// Sequences that hold a KV cache.
    pub(super) fn max_in_batch(&self) -> usize {
        self.max_running.saturating_add(self.max_paused)
    }
}
