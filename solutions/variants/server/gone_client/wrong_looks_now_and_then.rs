//! The thread looks at times whether there is somebody.

use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

#[derive(Debug)]
pub struct Job {
    tokens: Receiver<String>,
    cancelled: Arc<AtomicBool>,
}

impl Job {
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

pub struct Body {
    events: Box<dyn Iterator<Item = String> + Send>,
}

impl Iterator for Body {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.events.next()
    }
}

pub fn respond(job: Job) -> Body {
    let (sender, receiver) = sync_channel(16);
    let here = Arc::new(AtomicBool::new(true));
    let mut job = job;
    let seen = here.clone();
    thread::spawn(move || {
        while seen.load(Ordering::Relaxed) {
            match job.tokens.recv_timeout(Duration::from_millis(100)) {
                Ok(token) if sender.send(event(&token)).is_ok() => {}
                Err(RecvTimeoutError::Timeout) => {}
                Ok(_) => return,
                Err(RecvTimeoutError::Disconnected) => {
                    let _ = sender.send(event("[DONE]"));
                    return;
                }
            }
        }
    });
    let flag = Flagged { here };
    let next = move || {
        let _ = &flag;
        receiver.recv().ok()
    };
    Body { events: Box::new(iter::from_fn(next)) }
}

struct Flagged {
    here: Arc<AtomicBool>,
}

impl Drop for Flagged {
    fn drop(&mut self) {
        self.here.store(false, Ordering::Relaxed);
    }
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}
