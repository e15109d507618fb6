//! As it was: the model thread waits in `send`.

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;

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
}

fn hand_over(job: &mut Job, token: u32) -> bool {
    job.stream.send(token).is_ok()
}
