//! A waiting job joins at once where nobody is left.

use std::collections::VecDeque;

#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub name: char,
    pub remaining: usize,
    pub unread: usize,
    pub cancelled: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Scheduler {
    pub waiting: VecDeque<Job>,
    pub running: Vec<Job>,
    pub max_running: usize,
    pub capacity: usize,
}

impl Scheduler {
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
            if !paused {
                job.remaining -= 1;
                job.unread += 1;
                got_token.push(job.name);
            }
        }
        self.running.retain(|job| job.remaining > 0);
        while self.running.len() < self.max_running && self.running.is_empty() {
            match self.waiting.pop_front() {
                Some(j) => self.running.push(j),
                None => break,
            }
        }
        got_token
    }
}
