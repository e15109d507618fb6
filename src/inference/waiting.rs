//! One sequence in the queue.

use std::sync::Arc;

use super::job::RunningJob;
use super::permits::Permit;
use super::started::StartedSequence;
use super::{Completion, FinishReason, Timings, Usage};

/// A sequence that waits for its turn.
pub(super) struct WaitingSequence {
    pub(super) job: Arc<RunningJob>,
    /// Its index among the sequences of its job.
    pub(super) index: usize,
    pub(super) start: StartedSequence,
    /// Its place in the queue.
    pub(super) permit: Permit,
}

impl WaitingSequence {
    /// Ends it before it began.
    pub(super) fn end(self, reason: FinishReason) {
        let Self { job, index, start, permit } = self;
        // Whoever learns that it has ended may count on the place in the queue.
        drop(permit);
        let waited = job.submitted.elapsed();
        let timings = Timings { queue: waited, ttft: None, tpot: None, total: waited };
        let usage = Usage { prompt_tokens: start.prompt.len(), completion_tokens: 0 };
        job.complete(index, Completion { finish_reason: reason, usage, timings });
    }
}
