//! The texts of one grammar.

use std::fmt;

use llguidance::{Matcher, TokenParser};

use super::words::in_words;
use super::{contained, memory, refused};
use crate::constrained::{Cancel, Parser, TokenMask};
use crate::error::Result;

/// How `llguidance` begins its error where no token continues a text.
const NO_TOKEN: &str = "NoExtensionBias";

/// Reads a text under a grammar. Its lexer finds its states as it goes; a copy has a lexer of its own, so
/// that what one text costs does not depend on others.
pub(super) struct Reader {
    matcher: Matcher,
    vocab_size: usize,
    bytes: usize,
}

impl Reader {
    pub(super) fn new(parser: TokenParser, vocab_size: usize) -> Self {
        let bytes = memory::of(&parser);
        let matcher = Matcher::new(Ok(parser)).into_cancellable();
        Self { matcher, vocab_size, bytes }
    }

    fn ask<T, E: fmt::Display>(
        &mut self,
        ask: impl FnOnce(&mut Matcher) -> Result<T, E>,
    ) -> Result<T> {
        let answer = contained(|| ask(&mut self.matcher));
        let answer = answer.and_then(|answer| answer.map_err(|error| in_words(&error.to_string())));
        answer.map_err(|problem| refused("grammar", problem))
    }
}

impl Parser for Reader {
    fn read(&mut self, token: u32) -> Result<bool> {
        Ok(self.ask(|matcher| matcher.try_consume_tokens(&[token]))? == 1)
    }

    fn undo(&mut self, tokens: usize) -> Result<()> {
        self.ask(|matcher| matcher.rollback(tokens))
    }

    fn next(&mut self) -> Result<(TokenMask, bool)> {
        let none = TokenMask::none(self.vocab_size);
        if self.matcher.is_stopped() && !self.matcher.is_error() {
            return Ok((none, true));
        }
        let wrong = |problem| Err(refused("grammar", problem));
        match contained(|| self.matcher.compute_mask()) {
            // One more bit, which says whether the text may end.
            Ok(Ok(mask)) => Ok((
                TokenMask::from_words(mask.as_slice(), self.vocab_size),
                mask.is_allowed(self.vocab_size as u32),
            )),
            Ok(Err(error)) => match error.to_string() {
                error if error.starts_with(NO_TOKEN) => Ok((none, false)),
                error => wrong(in_words(&error)),
            },
            Err(problem) => wrong(problem),
        }
    }

    fn copy(&self) -> Box<dyn Parser> {
        Box::new(Self {
            matcher: self.matcher.deep_clone(),
            vocab_size: self.vocab_size,
            bytes: self.bytes,
        })
    }

    fn bytes(&self) -> usize {
        self.bytes
    }

    fn cancel_by(&mut self, cancel: &Cancel) {
        if let Some(handle) = self.matcher.cancellation_handle() {
            cancel.on_cancel(move || handle.cancel());
        }
    }
}
