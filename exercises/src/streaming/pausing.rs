//! A small scheduler: which jobs get a token at this step.

use std::collections::VecDeque;

/// One text that was requested.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub name: char,
    /// How many tokens are still to be computed, at least 1.
    pub remaining: usize,
    /// How many tokens in its stream are unread. The reader decreases it, between two steps.
    pub unread: usize,
    /// The client has gone. It may be set between any two steps.
    pub cancelled: bool,
}

/// The state of the model thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheduler {
    /// In the order of arrival, the earliest in front.
    pub waiting: VecDeque<Job>,
    /// In the order in which they joined.
    pub running: Vec<Job>,
    /// How many jobs get a token at one step, at most. At least 1.
    pub max_running: usize,
    /// How many tokens a stream holds, at least 1.
    pub capacity: usize,
}

impl Scheduler {
    /// Some readers are slow. Their jobs should pause without holding up the others. Take one step,
    /// and return the names of the jobs that got a token, in the order of `running`. The parts of a
    /// step, in this order:
    ///
    /// 1. Cancelled jobs are removed, from `running` and from `waiting`.
    /// 2. A running job is paused at this step if its stream is full: `unread` is `capacity`. It
    ///    keeps its place in `running`, gets no token, and does not count in parts 3 and 4.
    /// 3. Waiting jobs join, first come, first served, at the end of `running`, while fewer than
    ///    `max_running` of the running jobs are not paused.
    /// 4. The first `max_running` of the running jobs that are not paused get a token each: one
    ///    fewer remains, one more is unread. The others wait for a slot, at their places in
    ///    `running`.
    /// 5. A job with no token remaining leaves, whether its tokens have been read or not.
    ///
    /// So a slow reader delays no waiting job. When it has caught up, its job resumes as soon as
    /// there is a slot. If many catch up at the same moment, the jobs that joined first go first,
    /// and no job joins until all of them have a slot.
    ///
    /// ```text
    /// max_running 2, capacity 3, no job is cancelled
    ///
    ///           before the step                   after it
    /// running   A: 5 remaining, 1 unread          A: 4 remaining, 2 unread
    ///           B: 4 remaining, 3 unread          B: 4 remaining, 3 unread
    /// waiting   C: 1 remaining                    D: 2 remaining
    ///           D: 2 remaining
    ///
    /// returns A, C: B's stream was full, so C joined, got its only token, and left
    /// ```
    pub fn step(&mut self) -> Vec<char> {
        todo!()
    }
}
