//! The bug itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

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
    thread::spawn(move || {
        for token in job {
            let _ = sender.send(event(&token));
        }
        let _ = sender.send(event("[DONE]"));
    });
    Body { events: Box::new(receiver.into_iter()) }
}

fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}
