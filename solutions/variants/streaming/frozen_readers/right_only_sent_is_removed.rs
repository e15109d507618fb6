//! A token is taken from the list only when the stream has taken it.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, TrySendError};

#[derive(Debug)]
pub struct Job {
    pub tokens: VecDeque<u32>,
    pub stream: SyncSender<u32>,
}

pub fn step(jobs: &mut Vec<Job>) {
    jobs.retain_mut(|job| {
        let Some(&token) = job.tokens.front() else {
            return false;
        };
        match job.stream.try_send(token) {
            Ok(()) => {
                job.tokens.pop_front();
            }
            Err(TrySendError::Full(_)) => {}
            Err(TrySendError::Disconnected(_)) => return false,
        }
        !job.tokens.is_empty()
    });
}
