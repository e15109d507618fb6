//! A text has at most 500 tokens.

use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

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
    let done = iter::once_with(|| event("[DONE]"));
    Body {
        events: Box::new(job.take(500).map(|token| event(&token)).chain(done)),
    }
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}
