//! A small scheduler: which jobs get a token at this step.
//!
//! Why: the order of the parts is the whole point. Cancelled jobs go first, so that nothing is
//! computed for them and their places are free now. Then you settle who is paused, because only the
//! other jobs take time. Only after that do you know how many may join. In this exercise nobody
//! reads within a step, but a real reader may: so decide once who is paused, and don't ask again.
//!
//! What it costs: a few passes over the jobs at each step, nothing next to the step of a model. A
//! paused job keeps its cache: it takes no time, but memory, and a limit on that would be another
//! rule.
//!
//! A common wrong turn: letting the paused jobs count. It looks tidy, there are never more than
//! `max_running`, and as many readers who have left their windows open stop the service for all.
//! Another: stopping at the first waiting job that is cancelled, or skipping it and leaving it
//! there.

use std::collections::VecDeque;

/// One text that a client asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub name: char,
    /// How many tokens are still to be computed, at least 1.
    pub remaining: usize,
    /// How many of its tokens lie in its stream, not read yet.
    pub unread: usize,
    /// Its client has gone.
    pub cancelled: bool,
}

/// What the model thread keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheduler {
    /// Who came first is in front.
    pub waiting: VecDeque<Job>,
    /// In the order in which they joined.
    pub running: Vec<Job>,
    /// A waiting job joins only where fewer jobs than that get a token at this step.
    pub max_running: usize,
    /// How many tokens a stream holds.
    pub capacity: usize,
}

impl Scheduler {
    /// Takes one step. Returns the names of the jobs that got a token, in the order of `running`.
    pub fn step(&mut self) -> Vec<char> {
        self.running.retain(|job| !job.cancelled);
        self.waiting.retain(|job| !job.cancelled);

        let mut paused: Vec<bool> =
            self.running.iter().map(|job| job.unread >= self.capacity).collect();
        let active = paused.iter().filter(|&&paused| !paused).count();
        let room = self.max_running.saturating_sub(active);
        let joining = room.min(self.waiting.len());
        self.running.extend(self.waiting.drain(..joining));
        paused.resize(self.running.len(), false);

        let mut got_token = Vec::new();
        for (job, paused) in self.running.iter_mut().zip(paused) {
            if !paused && got_token.len() < self.max_running {
                job.remaining -= 1;
                job.unread += 1;
                got_token.push(job.name);
            }
        }
        self.running.retain(|job| job.remaining > 0);
        got_token
    }
}
