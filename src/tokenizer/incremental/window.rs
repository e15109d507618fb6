//! Incremental decoding by decoding a short window of ids repeatedly.

use super::super::decoding::Decoding;
use super::super::{TokenKind, Tokenizer};
use crate::error::Result;

/// The decoder's output for bytes that are not a character.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// The ids needed to decode the next one: the ids held back, and one or more before them as
/// context, because some tokenizers strip the leading space of the first token.
#[derive(Debug)]
pub(super) struct Window {
    ids: Vec<u32>,
    /// The length of the context at the start of `ids`, whose text has been returned.
    context: usize,
    /// The text of the context.
    before: String,
    /// The ids end in a run of byte tokens that may continue.
    in_bytes: bool,
}

impl Window {
    /// A window for the ids after `ids`, whose text is not repeated. The context is the shortest
    /// suffix of `ids` with a text: stripping at the start of the text then affects only the
    /// context, and later ids decode as after all of `ids`.
    pub(super) fn after(tokenizer: &Tokenizer, ids: &[u32]) -> Self {
        // Doubling bounds the total cost by a small multiple of the last attempt's.
        let mut wanted = 1;
        loop {
            let end = end_of(tokenizer, ids, wanted);
            let text = tokenizer.decode(&end).unwrap_or_default();
            let is_cut = tokenizer.decoding == Decoding::Mixed && text.contains(REPLACEMENT);
            if end.len() < wanted || (!text.is_empty() && !is_cut) {
                return Self { context: end.len(), ids: end, before: text, in_bytes: false };
            }
            wanted = 2 * end.len();
        }
    }

    /// Decodes one more id and returns the text that is now complete.
    pub(super) fn push(&mut self, tokenizer: &Tokenizer, id: u32) -> Result<String> {
        self.ids.push(id);
        self.in_bytes = tokenizer.kind(id) == TokenKind::Byte;
        if self.in_bytes {
            return Ok(String::new());
        }
        let text = added(&self.before, tokenizer.decode(&self.ids)?);
        if tokenizer.decoding == Decoding::Mixed && text.ends_with(REPLACEMENT) {
            // More bytes of a character may follow.
            return Ok(String::new());
        }
        if !text.is_empty() {
            *self = Self::after(tokenizer, &self.ids);
        } else if !self.before.is_empty() {
            // The new ids add no text, whatever follows.
            self.ids.truncate(self.context);
        }
        Ok(text)
    }

    /// The text still held back.
    pub(super) fn finish(self, tokenizer: &Tokenizer) -> Result<String> {
        if self.ids.len() == self.context {
            Ok(String::new())
        } else {
            Ok(added(&self.before, tokenizer.decode(&self.ids)?))
        }
    }
}

/// The last ids without special tokens: at least `wanted` if there are enough, and not starting
/// within a run of byte tokens.
fn end_of(tokenizer: &Tokenizer, ids: &[u32], wanted: usize) -> Vec<u32> {
    let mut end = Vec::new();
    for &id in ids.iter().rev() {
        let kind = tokenizer.kind(id);
        if kind != TokenKind::Silent {
            end.push(id);
        }
        if end.len() >= wanted && kind == TokenKind::Text {
            break;
        }
    }
    end.reverse();
    end
}

/// The text that `text` adds to `before`. The two differ within `before` only if later bytes
/// changed how earlier ones decode.
fn added(before: &str, mut text: String) -> String {
    let same = before.chars().zip(text.chars()).take_while(|(a, b)| a == b);
    let length = same.map(|(a, _)| a.len_utf8()).sum();
    text.split_off(length)
}
