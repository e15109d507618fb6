//! At the first reader that is behind, the step ends for those after it.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, TrySendError};

#[derive(Debug)]
pub struct Job {
    pub tokens: VecDeque<u32>,
    pub stream: SyncSender<u32>,
}

pub fn step(jobs: &mut Vec<Job>) {
    let mut place = 0;
    while place < jobs.len() {
        let job = &mut jobs[place];
        let Some(token) = job.tokens.pop_front() else {
            jobs.remove(place);
            continue;
        };
        match job.stream.try_send(token) {
            Ok(()) if job.tokens.is_empty() => {
                jobs.remove(place);
            }
            Ok(()) => place += 1,
            Err(TrySendError::Full(token)) => {
                job.tokens.push_front(token);
                return;
            }
            Err(TrySendError::Disconnected(_)) => {
                jobs.remove(place);
            }
        }
    }
}
