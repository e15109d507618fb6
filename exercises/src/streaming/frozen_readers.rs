//! Bug hunt: one window is left open, and all texts stop.

use std::collections::VecDeque;
use std::sync::mpsc::SyncSender;

/// One text that is being written.
#[derive(Debug)]
pub struct Job {
    /// What the model will write, in order. In this exercise it is known beforehand.
    pub tokens: VecDeque<u32>,
    /// Where the tokens go: the sending end of a `sync_channel`, whose reader is in another thread.
    pub stream: SyncSender<u32>,
}

/// One step: the model thread computes a token for each running job, and hands it over.
///
/// A job leaves `jobs`, which closes its stream, with its last token, or when its reader has gone.
/// The others stay, in their order. Every reader gets all tokens of its text, in order, as long as
/// it reads.
///
/// What was observed, with streams of 16 tokens each, on a server with many readers: one of them
/// left its window open and stopped reading. Sixteen tokens later all texts stood still, everybody
/// else's too. The processor had nothing to do. When the window was closed, all texts went on as if
/// nothing had happened, and none had a mistake.
///
/// Find out why, and fix it. The type and the signature of `step` stay. A reader that falls behind
/// may slow down its own text, but no other:
///
/// - Its job takes no part in the steps until the reader has caught up. Then it goes on where it
///   was: no token is lost, and none comes twice.
/// - While a reader is behind, no tokens pile up anywhere: what its stream can't take stays in
///   `tokens`.
pub fn step(jobs: &mut Vec<Job>) {
    jobs.retain_mut(|job| {
        let Some(token) = job.tokens.pop_front() else {
            return false;
        };
        hand_over(job, token) && !job.tokens.is_empty()
    });
}

/// Gives a token to the reader of its job. False when the reader has gone.
fn hand_over(job: &mut Job, token: u32) -> bool {
    job.stream.send(token).is_ok()
}
