//! Bug hunt: one window is left open, and all texts stop.
//!
//! Why: `send` on a bounded channel waits until there is room. It waited in the thread that
//! computes all texts, so one full stream stopped them all; closing the window closed the channel,
//! `send` failed, and the loop went on. `try_send` never waits: if the stream is full, it gives the
//! token back. But it can fail in two ways. A full stream is a reader that may come back: the token
//! goes back to its place, and the job stays. A closed one is a reader that has gone.
//!
//! What it costs: one look for each paused job at each step. With the real model, a token would
//! have been computed only to be put back: there, check whether the stream is full before the step.
//!
//! A common wrong turn: `try_send(token).is_ok()`. The texts go on, but the slow reader's text ends
//! in the middle, as if it had left. Or you keep the job and forget the token: the text has a hole.
//! And a channel without a bound stops no text, until the memory is full.

use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, TrySendError};

/// One text that is being written.
#[derive(Debug)]
pub struct Job {
    /// What the model will say, in order.
    pub tokens: VecDeque<u32>,
    /// Where the tokens go.
    pub stream: SyncSender<u32>,
}

/// One step: a token for each running job whose reader is not behind.
pub fn step(jobs: &mut Vec<Job>) {
    jobs.retain_mut(|job| {
        let Some(token) = job.tokens.pop_front() else {
            return false;
        };
        hand_over(job, token) && !job.tokens.is_empty()
    });
}

/// Gives a token to the reader of its job, or puts it back where the reader is behind. False when
/// there is no reader any more.
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
