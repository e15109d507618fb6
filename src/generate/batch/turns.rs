//! Whose token is chosen next.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::constrained::ConstraintId;
use crate::engine::SequenceId;

/// The sequences that wait for a thread. Each constraint gets the same share of the time, so that who asks for
/// little does not wait for those who ask for much (fair queueing: Demers et al., SIGCOMM 1989).
#[derive(Default)]
pub(super) struct Turns {
    queues: BTreeMap<ConstraintId, Queue>,
    /// The [`Queue::used`] of the constraint whose turn it was last.
    now: Duration,
}

/// The sequences of one constraint, and what its tokens take.
#[derive(Default)]
struct Queue {
    /// In the order of arrival: texts that have begun go on before others begin.
    waiting: BTreeSet<SequenceId>,
    /// The time that the tokens took so far. While nobody waits, as much as others took counts for it.
    used: Duration,
    /// What one of them took of late, on average.
    of_token: Option<Duration>,
}

impl Turns {
    /// A sequence waits from now on.
    pub(super) fn wait(&mut self, constraint: ConstraintId, id: SequenceId) {
        let queue = self.queues.entry(constraint).or_default();
        if queue.waiting.is_empty() {
            queue.used = queue.used.max(self.now);
        }
        queue.waiting.insert(id);
    }

    /// The sequence whose turn it is, which waits no more: the first of the constraint that has used least.
    pub(super) fn next(&mut self) -> Option<SequenceId> {
        let queues = self.queues.values_mut().filter(|queue| !queue.waiting.is_empty());
        let queue = queues.min_by_key(|queue| (queue.used, queue.waiting.first().copied()))?;
        self.now = self.now.max(queue.used);
        queue.waiting.pop_first()
    }

    /// A sequence waits no more.
    pub(super) fn leave(&mut self, id: SequenceId) {
        self.queues.values_mut().for_each(|queue| _ = queue.waiting.remove(&id));
    }

    /// Notes what a token took.
    pub(super) fn count(&mut self, constraint: ConstraintId, took: Duration) {
        let queue = self.queues.entry(constraint).or_default();
        queue.used += took;
        queue.of_token = Some(queue.of_token.map_or(took, |before| (before * 3 + took) / 4));
    }

    /// What a token of a constraint takes on average, if any was chosen.
    pub(super) fn cost(&self, constraint: ConstraintId) -> Option<Duration> {
        self.queues.get(&constraint)?.of_token
    }

    /// How many sequences of a constraint wait.
    pub(super) fn waiting(&self, constraint: ConstraintId) -> usize {
        self.queues.get(&constraint).map_or(0, |queue| queue.waiting.len())
    }

    /// Forgets what the tokens of a constraint took. No sequence of it may wait.
    pub(super) fn forget(&mut self, constraint: ConstraintId) {
        self.queues.remove(&constraint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Two constraints, the first of which takes a hundred times as much.
    fn constraints() -> [(ConstraintId, Duration); 2] {
        [(ConstraintId(1), 100 * MS), (ConstraintId(2), MS)]
    }

    #[test]
    fn a_text_that_asks_for_little_does_not_wait_for_many_that_ask_for_much() {
        let [(slow, much), (fast, little)] = constraints();
        let mut turns = Turns::default();
        (0..64).for_each(|id| turns.wait(slow, SequenceId(id)));
        for _ in 0..10 {
            assert_eq!(turns.next(), Some(SequenceId(0)));
            turns.count(slow, much);
            turns.wait(slow, SequenceId(0));
        }
        // It arrives last, and after one token of the others each of its own comes next.
        turns.wait(fast, SequenceId(64));
        let mut order = Vec::new();
        for _ in 0..120 {
            let id = turns.next().unwrap();
            order.push(id.0);
            let (constraint, took) = if id.0 == 64 {
                (fast, little)
            } else {
                (slow, much)
            };
            turns.count(constraint, took);
            turns.wait(constraint, id);
        }
        assert!(order[..2].contains(&64), "{order:?}");
        let of_slow = order.iter().filter(|&&id| id != 64).count();
        assert!((1..=2).contains(&of_slow), "{order:?}");
        assert_eq!((turns.cost(slow), turns.cost(fast)), (Some(much), Some(little)));
    }

    #[test]
    fn who_has_asked_for_nothing_has_saved_nothing() {
        let [(slow, much), (fast, _)] = constraints();
        let mut turns = Turns::default();
        turns.wait(fast, SequenceId(0));
        assert_eq!(turns.next(), Some(SequenceId(0)));
        for _ in 0..50 {
            turns.wait(slow, SequenceId(1));
            assert_eq!(turns.next(), Some(SequenceId(1)));
            turns.count(slow, much);
        }
        turns.wait(slow, SequenceId(1));
        turns.wait(fast, SequenceId(2));
        turns.wait(fast, SequenceId(3));
        turns.leave(SequenceId(2));
        let mut order = Vec::new();
        for _ in 0..6 {
            let id = turns.next().unwrap();
            order.push(id.0);
            let constraint = if id.0 == 1 { slow } else { fast };
            turns.count(constraint, much);
            turns.wait(constraint, id);
        }
        assert_eq!(order, [3, 1, 3, 1, 3, 1]);
    }
}
