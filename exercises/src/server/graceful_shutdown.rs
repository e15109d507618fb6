//! Bug hunt: a graceful shutdown that loses requests.

use std::collections::VecDeque;
use std::time::Duration;

/// A request that was submitted.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub name: char,
    /// How many tokens are still to be generated, at least 1.
    pub remaining: usize,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    /// It has all its tokens.
    Finished,
    /// The deadline of the shutdown has passed. The client is told so.
    CutOff,
    /// 503: the server is shutting down, and accepts nothing.
    Refused,
}

/// A server in which at most `slots` requests run. The others wait, in the order in which they
/// came.
#[derive(Debug)]
pub struct Server {
    slots: usize,
    waiting: VecDeque<Request>,
    running: Vec<Request>,
    /// Set from the shutdown on.
    deadline: Option<Duration>,
}

impl Server {
    pub fn new(slots: usize) -> Self {
        Self {
            slots,
            waiting: VecDeque::new(),
            running: Vec::new(),
            deadline: None,
        }
    }

    /// Accepts a request, or refuses it, which is an immediate answer.
    pub fn submit(&mut self, request: Request) -> Option<Answer> {
        if self.deadline.is_some() {
            return Some(Answer::Refused);
        }
        self.waiting.push_back(request);
        None
    }

    /// The process has to end, at `deadline` at the latest.
    pub fn shut_down(&mut self, deadline: Duration) {
        self.deadline = Some(deadline);
    }

    /// One step: requests that wait join where there is room, and each running one gets a token.
    /// Returns the names of the requests that ended, in the order in which they joined, and how.
    ///
    /// What was observed: with each new version of the server, a few clients get an empty reply,
    /// and no error that tells them why. No client loses a text after seeing its beginning, unless
    /// it ran for longer than the deadline. According to the logs, each of these shutdowns went
    /// well and all slots were free, and most of them took less than a second of the thirty that
    /// they had.
    ///
    /// Find out why, and fix it. The public items stay.
    ///
    /// - Every request gets exactly one answer, and only requests submitted after `shut_down` are
    ///   refused.
    /// - Before the deadline a server that shuts down works like any other, but it accepts nothing.
    /// - The step at the deadline or after it computes nothing, and cuts off everything that is
    ///   left: first the running requests, then the waiting ones.
    /// - Once it has nothing left to do, and no earlier, `may_exit`.
    pub fn step(&mut self, now: Duration) -> Vec<(char, Answer)> {
        match self.deadline {
            // It accepts nothing more.
            Some(deadline) if now < deadline => {}
            Some(_) => {
                return self
                    .running
                    .drain(..)
                    .map(|request| (request.name, Answer::CutOff))
                    .collect();
            }
            None => self.admit(),
        }
        for request in &mut self.running {
            request.remaining -= 1;
        }
        let ended = self.running.extract_if(.., |request| request.remaining == 0);
        ended.map(|request| (request.name, Answer::Finished)).collect()
    }

    /// Whether the process may end.
    pub fn may_exit(&self) -> bool {
        self.deadline.is_some() && self.running.is_empty()
    }

    fn admit(&mut self) {
        let room = self.slots - self.running.len();
        let joining = room.min(self.waiting.len());
        self.running.extend(self.waiting.drain(..joining));
    }
}
