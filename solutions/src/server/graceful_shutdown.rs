//! Bug hunt: a graceful shutdown that loses requests.
//!
//! Why: you make the promise when you accept a request, and not when its first token is computed.
//! So the door is at `submit` and nowhere else: behind it, a server that shuts down goes on as
//! always, and a waiting request joins when there is room. It is over when no request is left, in
//! the batch or in the queue. And if the deadline comes first, the waiting requests need an answer
//! as much as the running ones. After an error like "the server shut down" a client can try
//! elsewhere; after a connection that ends without a word it doesn't know what happened.
//!
//! What it costs: a shutdown that takes as long as the queue is. That is what its deadline is for,
//! and a reason for a queue that is short.
//!
//! A common wrong turn: correcting only the condition of `may_exit`. No request is lost then, but
//! none is served: the queue waits for the deadline. Another: refusing requests that wait at the
//! moment of the shutdown. They had been accepted, and could have had their text within a second.

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

    /// One step: who waits joins where there is room, and each running request gets a token.
    /// Returns the names of those that ended, in the order in which they joined, and how.
    pub fn step(&mut self, now: Duration) -> Vec<(char, Answer)> {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            let left = self.running.drain(..).chain(self.waiting.drain(..));
            return left.map(|request| (request.name, Answer::CutOff)).collect();
        }
        self.admit();
        for request in &mut self.running {
            request.remaining -= 1;
        }
        let ended = self.running.extract_if(.., |request| request.remaining == 0);
        ended.map(|request| (request.name, Answer::Finished)).collect()
    }

    /// Whether the process may end.
    pub fn may_exit(&self) -> bool {
        self.deadline.is_some() && self.running.is_empty() && self.waiting.is_empty()
    }

    fn admit(&mut self) {
        let room = self.slots - self.running.len();
        let joining = room.min(self.waiting.len());
        self.running.extend(self.waiting.drain(..joining));
    }
}
