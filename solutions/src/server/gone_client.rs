//! Bug hunt: the client has gone, and its text is written to the end.
//!
//! Why: the thread took events out of the job and passed them on, and it ignored that the client
//! had gone. Ending the loop when `send` fails is half of the answer. It fails with the next token,
//! and a request that waits in the queue has none for a long time. Many clients give up there, so
//! the thread waited in `next` and held the job, and when its turn came, a slot was wasted on it.
//! The body is the only thing that the HTTP server drops, so the job has to be in the body. Then no
//! code has to notice that the client has gone.
//!
//! What it costs: nothing. A thread and a channel for each request are gone. The channel was a
//! bound, but the job's stream has one already.
//!
//! A common wrong turn: keep-alive comments, so that a write fails sooner. They are useful for
//! connections that break without a word, but useless here, where the server has noticed already.
//! Another: checking at every tenth token whether the client is there. That is better, and the
//! queue is still full of requests whose clients have left.

use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

/// A generation, as the library gives it: an iterator over its tokens. `next` waits, which may take
/// long where the request waits in the queue. Dropping the job cancels it, and frees its slot.
#[derive(Debug)]
pub struct Job {
    tokens: Receiver<String>,
    cancelled: Arc<AtomicBool>,
}

impl Job {
    /// A job whose tokens come out of a channel. The model thread looks at `cancelled` before each
    /// step.
    pub fn new(tokens: Receiver<String>, cancelled: Arc<AtomicBool>) -> Self {
        Self { tokens, cancelled }
    }
}

impl Iterator for Job {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.tokens.recv().ok()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// The body of a response. The HTTP server takes event after event out of it and writes them to the
/// connection. When the connection breaks, it drops the body.
pub struct Body {
    events: Box<dyn Iterator<Item = String> + Send>,
}

impl Iterator for Body {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.events.next()
    }
}

/// The handler of a streaming request: the body has an event for each token of the job, as soon as
/// it is there, and then `[DONE]`. The handler itself returns at once.
pub fn respond(job: Job) -> Body {
    let done = iter::once_with(|| event("[DONE]"));
    Body { events: Box::new(job.map(|token| event(&token)).chain(done)) }
}

/// A token without line ends, as an event.
fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}
