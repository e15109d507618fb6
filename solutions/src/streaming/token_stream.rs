//! A stream of tokens: one end writes and never waits, the other reads.
//!
//! Why: the two ends wait differently. The reader has nothing else to do, so `recv` lets its thread
//! sleep until there is a token or no sender any more. The model thread has others to serve, so it
//! uses `try_send` and decides for itself what to do with a token that comes back. A channel tells
//! its sender that the reader has gone only when it sends. But a job that is paused or in its
//! prefill sends nothing, so the drop sets a flag that the sender can check at any time.
//!
//! What it costs: room for `capacity` tokens, a lock or a few atomics for each token, and one
//! atomic load where the thread looks.
//!
//! A common wrong turn: `try_recv` in `next`. It gives `None` if no token is there *yet*, and the
//! text ends after the first pause of the model. Another: taking every error of `try_send` for a
//! reader that has gone. A slow reader then loses the rest of its text.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};

/// The model thread's end.
#[derive(Debug)]
pub struct TokenSender {
    sender: SyncSender<String>,
    gone: Arc<AtomicBool>,
}

/// What became of a token.
#[derive(Debug, Clone, PartialEq)]
pub enum Emitted {
    /// It waits for the reader, or has been read.
    Sent,
    /// The reader is behind: here is the token again.
    Behind(String),
    /// The reader has gone.
    Gone,
}

/// The reader's end: an iterator over the tokens.
#[derive(Debug)]
pub struct TokenStream {
    receiver: Receiver<String>,
    gone: Arc<AtomicBool>,
}

/// Both ends of a stream in which at most `capacity` tokens wait to be read, at least 1.
pub fn token_stream(capacity: usize) -> (TokenSender, TokenStream) {
    let (sender, receiver) = sync_channel(capacity);
    let gone = Arc::new(AtomicBool::new(false));
    (TokenSender { sender, gone: gone.clone() }, TokenStream { receiver, gone })
}

impl TokenSender {
    /// Gives a token to the reader, or says why it can't. Never waits.
    pub fn emit(&self, token: String) -> Emitted {
        match self.sender.try_send(token) {
            Ok(()) => Emitted::Sent,
            Err(TrySendError::Full(token)) => Emitted::Behind(token),
            Err(TrySendError::Disconnected(_)) => Emitted::Gone,
        }
    }

    /// Whether the stream was dropped.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }
}

impl Iterator for TokenStream {
    type Item = String;

    /// Waits for the next token.
    fn next(&mut self) -> Option<String> {
        self.receiver.recv().ok()
    }
}

impl Drop for TokenStream {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::Relaxed);
    }
}
