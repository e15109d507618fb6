//! A sequence on its way to the model thread.

use std::sync::Arc;

use super::job::RunningJob;
use super::permits::Permit;
use super::started::StartedSequence;

/// A sequence that was accepted, and that the model thread has not taken in yet.
pub(super) struct QueuedSequence {
    pub(super) job: Arc<RunningJob>,
    /// The index of the sequence within its job.
    pub(super) index: usize,
    pub(super) start: StartedSequence,
    /// The sequence's slot in the queue.
    pub(super) permit: Permit,
}
