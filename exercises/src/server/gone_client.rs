//! Bug hunt: the client has gone, and its text is written to the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// A generation, as the library returns it: an iterator over its tokens. `next` waits, which may
/// take long while the request is queued. Dropping the job cancels it, and frees its slot.
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
///
/// What was observed: at noon the server answers 429 to every request. All slots are taken, and all
/// of them generate. Of its 64 clients 60 left minutes ago, most of them because they had waited
/// for too long. Once their texts have reached their limits, all is well again. In the test of this
/// function, with one client that reads to the end, nothing was wrong.
///
/// Find out why, and fix it. The types and the signature of `respond` stay.
///
/// - When the body is dropped, the job is cancelled before `drop` returns. That must be so whether
///   there were tokens or none yet, and whether the client had read them or not.
/// - What worked must still work: all events in order, as early as before, and `[DONE]` once, at
///   the end.
pub fn respond(job: Job) -> Body {
    let (sender, receiver) = sync_channel(16);
    // The handler must return before the text is written, so another thread passes it on.
    thread::spawn(move || {
        for token in job {
            // A client may leave at any time: no reason to panic.
            let _ = sender.send(event(&token));
        }
        let _ = sender.send(event("[DONE]"));
    });
    Body { events: Box::new(receiver.into_iter()) }
}

/// A token without line ends, as an event.
fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}
