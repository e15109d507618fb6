//! `is_gone` sends an empty token to find out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

#[derive(Debug)]
pub struct TokenSender {
    sender: SyncSender<String>,
    gone: Arc<AtomicBool>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Emitted {
    Sent,
    Behind(String),
    Gone,
}

#[derive(Debug)]
pub struct TokenStream {
    receiver: Receiver<String>,
    gone: Arc<AtomicBool>,
}

pub fn token_stream(capacity: usize) -> (TokenSender, TokenStream) {
    let (sender, receiver) = sync_channel(capacity);
    let gone = Arc::new(AtomicBool::new(false));
    (TokenSender { sender, gone: gone.clone() }, TokenStream { receiver, gone })
}

impl TokenSender {
    pub fn emit(&self, token: String) -> Emitted {
        match self.sender.try_send(token) {
            Ok(()) => Emitted::Sent,
            Err(TrySendError::Full(token)) => Emitted::Behind(token),
            Err(TrySendError::Disconnected(_)) => Emitted::Gone,
        }
    }

    pub fn is_gone(&self) -> bool {
        matches!(self.sender.try_send(String::new()), Err(TrySendError::Disconnected(_)))
    }
}

impl Iterator for TokenStream {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.receiver.recv().ok()
    }
}

impl Drop for TokenStream {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}
