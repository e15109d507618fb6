//! The jobs change their order at each step.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, TrySendError};

#[derive(Debug)]
pub struct Job {
    pub tokens: VecDeque<u32>,
    pub stream: SyncSender<u32>,
}

pub fn step(jobs: &mut Vec<Job>) {
    jobs.retain_mut(|job| {
        let Some(token) = job.tokens.pop_front() else {
            return false;
        };
        hand_over(job, token) && !job.tokens.is_empty()
    });
    jobs.reverse();
}

fn hand_over(job: &mut Job, token: u32) -> bool {
    match job.stream.try_send(token) {
        Ok(()) => true,
        Err(TrySendError::Full(token)) => {
            job.tokens.push_front(token);
            true
        }
        Err(TrySendError::Disconnected(_)) => false,
    }
}
