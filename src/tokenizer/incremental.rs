//! Ids in, whole characters out.

use super::{TokenKind, Tokenizer};
use crate::error::Result;

/// Turns a stream of token ids into pieces of text that are each whole UTF-8.
///
/// A token may hold only a part of a character: `é` is two bytes, `🙂` four, and a byte-level
/// tokenizer may cut between them. Such a part is held back until the rest has come.
///
/// In a tokenizer of SentencePiece's kind, characters that it does not know are rows of tokens
/// that stand for one byte each. Such a row is held back until it ends: if it is not UTF-8,
/// none of it becomes text, not even what looked like a character at first.
///
/// The pieces together are what decoding all ids at once gives, whatever the ids are.
#[derive(Debug)]
pub struct IncrementalDecoder<'a> {
    tokenizer: &'a Tokenizer,
    ids: Vec<u32>,
    /// `ids[..context]` is no longer needed.
    context: usize,
    /// The text of `ids[..emitted]` is out. `ids[context..emitted]` is decoded again with what
    /// follows, because some tokenizers strip the space of the first token they are given.
    emitted: usize,
    /// The ids so far end in a row of bytes that may go on.
    in_bytes: bool,
}

impl<'a> IncrementalDecoder<'a> {
    /// A decoder for what comes after `prompt`, whose text it does not repeat.
    pub fn after(tokenizer: &'a Tokenizer, prompt: &[u32]) -> Self {
        Self {
            tokenizer,
            ids: prompt.to_vec(),
            context: 0,
            emitted: prompt.len(),
            in_bytes: false,
        }
    }

    // ANCHOR: push
    /// Takes one more id and returns the text that is now whole: nothing while the character
    /// that was begun is not finished.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn push(&mut self, id: u32) -> Result<String> {
        self.ids.push(id);
        match self.tokenizer.kind(id) {
            TokenKind::Text => self.in_bytes = false,
            TokenKind::Byte => self.in_bytes = true,
            TokenKind::Silent => {}
        }
        if self.in_bytes {
            return Ok(String::new());
        }
        let before = self.tokenizer.decode(&self.ids[self.context..self.emitted])?;
        let text = self.pending(&before)?;
        // U+FFFD at the end: a character of which bytes are still to come.
        if text.ends_with('\u{FFFD}') {
            return Ok(String::new());
        }
        // An id without a text of its own says nothing about where the next one begins.
        if !text.is_empty() {
            // Decoding can only begin where a character begins: a prompt may end inside one.
            if !before.ends_with('\u{FFFD}') {
                self.context = self.emitted;
            }
            self.emitted = self.ids.len();
        }
        Ok(text)
    }
    // ANCHOR_END: push

    /// What was still held back, with U+FFFD for a character that never became whole.
    ///
    /// # Errors
    /// As [`Tokenizer::decode`].
    pub fn finish(self) -> Result<String> {
        let before = self.tokenizer.decode(&self.ids[self.context..self.emitted])?;
        self.pending(&before)
    }

    /// The text that `ids[emitted..]` add to `before`, the text of `ids[context..emitted]`.
    fn pending(&self, before: &str) -> Result<String> {
        let mut text = self.tokenizer.decode(&self.ids[self.context..])?;
        // They differ before the end of `before` only where that ends in half a character.
        let same = before.chars().zip(text.chars()).take_while(|(a, b)| a == b);
        let length = same.map(|(a, _)| a.len_utf8()).sum();
        Ok(text.split_off(length))
    }
}
