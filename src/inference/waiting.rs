//! A queued sequence.

use std::sync::Arc;

use super::job::RunningJob;
use super::permits::Permit;
use super::started::StartedSequence;
use super::{Completion, FinishReason, Timings, Usage};

/// A sequence that waits to join the batch.
pub(super) struct WaitingSequence {
    pub(super) job: Arc<RunningJob>,
    /// The index of the sequence within its job.
    pub(super) index: usize,
    pub(super) start: StartedSequence,
    /// The sequence's slot in the queue.
    pub(super) permit: Permit,
}

impl WaitingSequence {
    /// Ends the sequence before it has joined the batch.
    pub(super) fn end(self, reason: FinishReason) {
        let Self { job, index, start, permit } = self;
        // Freed before the completion, so that a caller that sees it can use the slot.
        drop(permit);
        let waited = job.submitted.elapsed();
        let timings = Timings { queue: waited, ttft: None, tpot: None, total: waited };
        let usage = Usage { prompt_tokens: start.prompt.len(), completion_tokens: 0 };
        job.complete(index, Completion { finish_reason: reason, usage, timings });
    }
}
