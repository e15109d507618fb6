//! Decoding again and again, a few ids at a time.

use super::super::decoding::Decoding;
use super::super::{TokenKind, Tokenizer};
use crate::error::Result;

/// It stands for bytes that are not a character.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// The ids that are needed to know the text of the next one: those that are held back, and one or
/// a few before them, because some tokenizers strip the space of the first token that they are
/// given.
#[derive(Debug)]
pub(super) struct Window {
    ids: Vec<u32>,
    /// How many of these are the context, whose text is out.
    context: usize,
    /// The text of the context, in this window.
    before: String,
    /// The ids so far end in a row of bytes that may go on.
    in_bytes: bool,
}

impl Window {
    /// A window for what comes after `ids`, whose text it does not repeat. It is the shortest end
    /// of them that has a text: whatever is stripped from the beginning of a text is stripped
    /// from that of the context, and what follows is decoded as it is after all of them.
    pub(super) fn after(tokenizer: &Tokenizer, ids: &[u32]) -> Self {
        // Twice as many each time, so that all tries together cost as much as a few of the last.
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

    /// Takes one more id and returns the text that is now whole.
    pub(super) fn push(&mut self, tokenizer: &Tokenizer, id: u32) -> Result<String> {
        self.ids.push(id);
        self.in_bytes = tokenizer.kind(id) == TokenKind::Byte;
        if self.in_bytes {
            return Ok(String::new());
        }
        let text = added(&self.before, tokenizer.decode(&self.ids)?);
        if tokenizer.decoding == Decoding::Mixed && text.ends_with(REPLACEMENT) {
            // Perhaps a character of which bytes are still to come.
            return Ok(String::new());
        }
        if !text.is_empty() {
            *self = Self::after(tokenizer, &self.ids);
        } else if !self.before.is_empty() {
            // It adds nothing here, and would add nothing with what follows.
            self.ids.truncate(self.context);
        }
        Ok(text)
    }

    /// What was still held back.
    pub(super) fn finish(self, tokenizer: &Tokenizer) -> Result<String> {
        if self.ids.len() == self.context {
            Ok(String::new())
        } else {
            Ok(added(&self.before, tokenizer.decode(&self.ids)?))
        }
    }
}

/// The last ids that are not special: at least `wanted`, if there are so many, and from one on
/// that is not in the middle of a row of bytes.
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

/// What `text` has more than `before`. They differ before the end of `before` only where bytes
/// became something else with those that followed.
fn added(before: &str, mut text: String) -> String {
    let same = before.chars().zip(text.chars()).take_while(|(a, b)| a == b);
    let length = same.map(|(a, _)| a.len_utf8()).sum();
    text.split_off(length)
}
