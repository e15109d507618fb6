//! The limits on concurrent work.

/// The limits of an [`Inference`](super::Inference).
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Items that a stream holds before its job's sequences pause.
    pub(super) stream_capacity: usize,
    /// Sequences in a step.
    pub(super) max_running: usize,
    /// Paused sequences in the batch, beside `max_running`.
    pub(super) max_paused: usize,
    /// Sequences in the queue.
    pub(super) max_waiting: usize,
    /// Prompt tokens that a sequence prefills in one step.
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
