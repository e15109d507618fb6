//! A job leaves when its last token is computed, though its stream was full.

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
        let is_last = job.tokens.is_empty();
        hand_over(job, token) && !is_last
    });
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
