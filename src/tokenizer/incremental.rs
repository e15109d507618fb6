//! Ids in, whole characters out.

mod bytes;
mod window;

use super::decoding::{Decoding, bytes_of};
use super::{TokenKind, Tokenizer};
use crate::error::Result;
use bytes::ByteBuffer;
use window::Window;

/// Turns a stream of token ids into pieces of text that are each whole UTF-8.
///
/// A token may hold only a part of a character: `é` is two bytes, `🙂` four, and a byte-level
/// tokenizer may cut between them. Such a part is held back until the rest has come, and becomes
/// U+FFFD as soon as it is certain that the rest does not come.
///
/// In a tokenizer of SentencePiece's kind, characters that it does not know are rows of tokens
/// that stand for one byte each. Such a row is held back until it ends: if it is not UTF-8,
/// none of it becomes text, not even what looked like a character at first.
///
/// The pieces together are what decoding all ids at once gives, whatever the ids are, and an id
/// costs the same however many came before it.
// ANCHOR: decoder
#[derive(Debug)]
pub struct IncrementalDecoder<'a> {
    tokenizer: &'a Tokenizer,
    pending: Pending,
}

/// What is held back.
#[derive(Debug)]
enum Pending {
    /// Where each token is a string of bytes.
    Bytes(ByteBuffer),
    /// Where the text of a token depends on its neighbours.
    Ids(Window),
}
// ANCHOR_END: decoder

impl<'a> IncrementalDecoder<'a> {
    /// A decoder for what comes after `prompt`, whose text it does not repeat.
    pub fn after(tokenizer: &'a Tokenizer, prompt: &[u32]) -> Self {
        let pending = match tokenizer.decoding {
            Decoding::Bytes => Pending::Bytes(bytes_at_the_end(tokenizer, prompt)),
            _ => Pending::Ids(Window::after(tokenizer, prompt)),
        };
        Self { tokenizer, pending }
    }

    // ANCHOR: push
    /// Takes one more id and returns the text that is now whole: nothing while the character
    /// that was begun is not finished.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn push(&mut self, id: u32) -> Result<String> {
        // A special token has no text.
        if self.tokenizer.kind(id) == TokenKind::Silent {
            return Ok(String::new());
        }
        match &mut self.pending {
            Pending::Bytes(pending) => Ok(pending.push(&token_bytes(self.tokenizer, id))),
            Pending::Ids(pending) => pending.push(self.tokenizer, id),
        }
    }
    // ANCHOR_END: push

    // ANCHOR: finish
    /// What was still held back, with U+FFFD for a character that never became whole.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn finish(self) -> Result<String> {
        match self.pending {
            Pending::Bytes(pending) => Ok(pending.finish()),
            Pending::Ids(pending) => pending.finish(self.tokenizer),
        }
    }
    // ANCHOR_END: finish
}

fn token_bytes(tokenizer: &Tokenizer, id: u32) -> Vec<u8> {
    tokenizer.token(id).map(|token| bytes_of(&token)).unwrap_or_default()
}

/// The character that a prompt ends in the middle of.
fn bytes_at_the_end(tokenizer: &Tokenizer, prompt: &[u32]) -> ByteBuffer {
    let mut end = Vec::new();
    for &id in prompt.iter().rev() {
        if tokenizer.kind(id) != TokenKind::Silent {
            end.splice(..0, token_bytes(tokenizer, id));
        }
        if end.len() >= bytes::LONGEST_CHARACTER {
            break;
        }
    }
    ByteBuffer::after(&end)
}
