//! A stream of tokens: one end writes and never waits, the other reads.

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

/// The model thread serves many readers, so it can't wait for a single one of them. Build the two
/// ends of a stream in which at most `capacity` tokens wait to be read, at least 1.
///
/// - The reader waits for the next token. Its iterator ends when the sender is dropped and
///   everything that was sent has been read, and not before.
/// - The sender never waits. If the reader is behind, [`Emitted`] tells it so.
/// - Dropping the stream never waits. Once it is dropped, wherever its reader was, the sender can
///   notice: from [`TokenSender::is_gone`], without sending anything, and from [`Emitted::Gone`],
///   even if the stream was full.
///
/// ```text
/// capacity 2
/// emit "Once"    Sent
/// emit " upon"   Sent
/// emit " a"      Behind(" a")
/// next           Some("Once")
/// emit " a"      Sent
/// the sender is dropped
/// next           Some(" upon")
/// next           Some(" a")
/// next           None
/// ```
pub fn token_stream(capacity: usize) -> (TokenSender, TokenStream) {
    todo!()
}

impl TokenSender {
    /// Gives a token to the reader, or says why it can't. Never waits.
    pub fn emit(&self, token: String) -> Emitted {
        todo!()
    }

    /// Whether the stream was dropped. The model thread looks before each step.
    pub fn is_gone(&self) -> bool {
        todo!()
    }
}

impl Iterator for TokenStream {
    type Item = String;

    /// Waits for the next token.
    fn next(&mut self) -> Option<String> {
        todo!()
    }
}

impl Drop for TokenStream {
    fn drop(&mut self) {
        // Tell the sender here. (A `todo!()` in `drop` could end the whole run of the tests.)
    }
}
