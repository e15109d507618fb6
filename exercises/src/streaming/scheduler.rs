//! A small scheduler: who gets a token at this step.

use std::collections::VecDeque;

/// One text that somebody asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub name: char,
    /// How many tokens are still to be computed, at least 1.
    pub remaining: usize,
    /// How many of its tokens lie in its stream, not read yet. The reader makes it smaller, between
    /// two steps.
    pub unread: usize,
    /// Whoever asked for it has gone. It may be set between any two steps.
    pub cancelled: bool,
}

/// What the model thread keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheduler {
    /// Who came first is in front.
    pub waiting: VecDeque<Job>,
    /// In the order in which they joined.
    pub running: Vec<Job>,
    /// A waiting job joins only where fewer jobs than that get a token at this step. At least 1.
    pub max_running: usize,
    /// How many tokens a stream holds, at least 1.
    pub capacity: usize,
}

impl Scheduler {
    /// Takes one step. Returns the names of the jobs that got a token, in the order of `running`.
    /// The parts of a step, in this order:
    ///
    /// 1. Jobs that are cancelled go, from `running` and from `waiting`.
    /// 2. A running job is paused at this step if its stream is full: `unread` is `capacity`. It
    ///    keeps its place in `running`, gets no token, and counts for nobody.
    /// 3. Waiting jobs join, first come, first served, at the end of `running`, while fewer than
    ///    `max_running` of the running jobs are not paused.
    /// 4. Each running job that is not paused gets a token: one fewer remains, one more is unread.
    /// 5. A job with no token remaining leaves, whether its tokens have been read or not.
    ///
    /// So a slow reader holds up no one who waits. When it has caught up, it goes on at once. There
    /// may be more than `max_running` for a while then: nobody who runs is sent away for it, and
    /// nobody joins until there is room again.
    ///
    /// ```text
    /// max_running 2, capacity 3, nobody is cancelled
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
