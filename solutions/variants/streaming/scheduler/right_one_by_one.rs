//! One job after the other, in two loops.

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

fn one_token(job: &mut Job, got_token: &mut Vec<char>) {
    job.remaining -= 1;
    job.unread += 1;
    got_token.push(job.name);
}

impl Scheduler {
    pub fn step(&mut self) -> Vec<char> {
        self.waiting.retain(|job| !job.cancelled);
        let (capacity, mut active) = (self.capacity, 0);
        let mut got_token = Vec::new();
        let mut after = Vec::new();
        for mut job in std::mem::take(&mut self.running) {
            if job.cancelled {
                continue;
            }
            if job.unread < capacity {
                active += 1;
                one_token(&mut job, &mut got_token);
            }
            after.push(job);
        }
        while active < self.max_running {
            let Some(mut job) = self.waiting.pop_front() else {
                break;
            };
            active += 1;
            one_token(&mut job, &mut got_token);
            after.push(job);
        }
        after.retain(|job| job.remaining > 0);
        self.running = after;
        got_token
    }
}
