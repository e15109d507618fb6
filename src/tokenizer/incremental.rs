//! Incremental decoding: ids in, whole characters out.

mod bytes;
mod window;

use super::decoding::{Decoding, bytes_of};
use super::{TokenKind, Tokenizer};
use crate::error::Result;
use bytes::ByteBuffer;
use window::Window;

/// Decodes a stream of token ids into pieces of text, each of whole UTF-8 characters.
///
/// A token may hold only a part of a character: `é` is two bytes, `🙂` four, and a byte-level
/// tokenizer may cut between them. Such a part is held back until the character is complete, and
/// becomes U+FFFD once it cannot be completed.
///
/// A SentencePiece tokenizer with byte fallback encodes an unknown character as a run of byte
/// tokens. The run is held back until it ends: if it is not UTF-8, none of it becomes text, not
/// even a valid prefix.
///
/// The concatenated pieces equal the decoding of all ids at once, for any ids, and the cost per id
/// does not grow with their number.
// ANCHOR: decoder
#[derive(Debug)]
pub struct IncrementalDecoder<'a> {
    tokenizer: &'a Tokenizer,
    pending: Pending,
}

/// The text or ids held back.
#[derive(Debug)]
enum Pending {
    /// For tokenizers whose tokens are byte strings.
    Bytes(ByteBuffer),
    /// For tokenizers whose tokens decode differently next to others.
    Ids(Window),
}
// ANCHOR_END: decoder

impl<'a> IncrementalDecoder<'a> {
    /// A decoder for the ids after `prompt`; the text of the prompt is not repeated.
    pub fn after(tokenizer: &'a Tokenizer, prompt: &[u32]) -> Self {
        let pending = match tokenizer.decoding {
            Decoding::Bytes => Pending::Bytes(bytes_at_the_end(tokenizer, prompt)),
            _ => Pending::Ids(Window::after(tokenizer, prompt)),
        };
        Self { tokenizer, pending }
    }

    // ANCHOR: push
    /// Decodes one more id and returns the text that is now complete: empty within a character.
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

    /// Whether the last id with a text has the beginning of a character behind it. The next id completes
    /// that, or [`finish`](Self::finish) returns it as U+FFFD.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn is_within_character(&self) -> bool {
        match &self.pending {
            Pending::Bytes(pending) => pending.is_within_character(),
            // Ids are held back with all of their text.
            Pending::Ids(_) => false,
        }
    }

    /// The text still held back, with U+FFFD for an incomplete character.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn finish(self) -> Result<String> {
        match self.pending {
            Pending::Bytes(pending) => Ok(pending.finish()),
            Pending::Ids(pending) => pending.finish(self.tokenizer),
        }
    }
}

fn token_bytes(tokenizer: &Tokenizer, id: u32) -> Vec<u8> {
    tokenizer.token(id).map(|token| bytes_of(&token)).unwrap_or_default()
}

/// The bytes of an incomplete character at the end of the prompt.
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
