//! The sequences that wait for their turn.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::job::JobId;
use super::waiting::WaitingSequence;

/// First come, first served: jobs in the order in which they were spawned, the sequences of one
/// in the order in which its handler started them.
type Turn = (JobId, usize);

/// The sequences that wait. None of its methods looks at each of them: with many in the queue,
/// a step costs no more than with few.
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

    /// Takes the one whose turn it is.
    pub(super) fn pop(&mut self) -> Option<WaitingSequence> {
        let (turn, _) = self.waiting.first_key_value()?;
        self.remove(*turn)
    }

    /// Takes one of this job, if the job is over.
    pub(super) fn pop_over(&mut self, job: JobId) -> Option<WaitingSequence> {
        let (turn, waiting) = self.waiting.range((job, 0)..=(job, usize::MAX)).next()?;
        if !waiting.job.is_over() {
            return None;
        }
        self.remove(*turn)
    }

    /// Takes one whose deadline has come.
    pub(super) fn pop_late(&mut self, now: Instant) -> Option<WaitingSequence> {
        let (deadline, turn) = *self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        self.remove(turn)
    }

    /// When the next of them must end.
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
