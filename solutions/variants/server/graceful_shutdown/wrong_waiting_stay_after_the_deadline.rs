//! At the deadline, only who runs is cut off, and the process never ends.

use std::collections::VecDeque;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub name: char,
    pub remaining: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Answer {
    Finished,
    CutOff,
    Refused,
}

#[derive(Debug)]
pub struct Server {
    slots: usize,
    waiting: VecDeque<Request>,
    running: Vec<Request>,
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

    pub fn submit(&mut self, request: Request) -> Option<Answer> {
        if self.deadline.is_some() {
            return Some(Answer::Refused);
        }
        self.waiting.push_back(request);
        None
    }

    pub fn shut_down(&mut self, deadline: Duration) {
        self.deadline = Some(deadline);
    }

    pub fn step(&mut self, now: Duration) -> Vec<(char, Answer)> {
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            let left = self.running.drain(..);
            return left.map(|request| (request.name, Answer::CutOff)).collect();
        }
        self.admit();
        for request in &mut self.running {
            request.remaining -= 1;
        }
        let ended = self.running.extract_if(.., |request| request.remaining == 0);
        ended.map(|request| (request.name, Answer::Finished)).collect()
    }

    pub fn may_exit(&self) -> bool {
        self.deadline.is_some() && self.running.is_empty() && self.waiting.is_empty()
    }

    fn admit(&mut self) {
        let room = self.slots - self.running.len();
        let joining = room.min(self.waiting.len());
        self.running.extend(self.waiting.drain(..joining));
    }
}
