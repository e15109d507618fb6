//! The queue of sequences that wait to join the batch.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::job::JobId;
use super::waiting::WaitingSequence;

/// First come, first served: jobs in spawn order, a job's sequences in the order in which its
/// handler started them.
type Turn = (JobId, usize);

/// The queued sequences. No method scans the whole queue, so that a step costs the same however
/// long the queue is.
#[derive(Default)]
pub(super) struct Queue {
    waiting: BTreeMap<Turn, WaitingSequence>,
    deadlines: BTreeSet<(Instant, Turn)>,
}

impl Queue {
    pub(super) fn push(&mut self, waiting: WaitingSequence) {
        let turn = (waiting.job.id, waiting.index);
        self.deadlines.extend(waiting.start.deadline.map(|deadline| (deadline, turn)));
        self.waiting.insert(turn, waiting);
    }

    /// Removes the first sequence.
    pub(super) fn pop(&mut self) -> Option<WaitingSequence> {
        let (turn, _) = self.waiting.first_key_value()?;
        self.remove(*turn)
    }

    /// Removes a sequence of `job`, if the job is over.
    pub(super) fn pop_over(&mut self, job: JobId) -> Option<WaitingSequence> {
        let (turn, waiting) = self.waiting.range((job, 0)..=(job, usize::MAX)).next()?;
        if !waiting.job.is_over() {
            return None;
        }
        self.remove(*turn)
    }

    /// Removes a sequence whose deadline has passed.
    pub(super) fn pop_late(&mut self, now: Instant) -> Option<WaitingSequence> {
        let (deadline, turn) = *self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        self.remove(turn)
    }

    /// The earliest deadline in the queue.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(deadline, _)| *deadline)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn remove(&mut self, turn: Turn) -> Option<WaitingSequence> {
        let waiting = self.waiting.remove(&turn)?;
        if let Some(deadline) = waiting.start.deadline {
            self.deadlines.remove(&(deadline, turn));
        }
        Some(waiting)
    }
}
