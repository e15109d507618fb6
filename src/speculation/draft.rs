//! Who guesses.

use crate::error::Result;
use crate::sampling::Sampler;

/// Proposes the tokens that may come next. No proposal changes a text: a good one makes it come
/// sooner.
pub trait Draft: Send {
    /// Up to `most` draft tokens for the positions after `text`.
    ///
    /// # Errors
    /// Those of a model, for example. The text goes on without draft tokens.
    fn propose(&mut self, text: &Text<'_>, most: usize) -> Result<Vec<u32>>;

    /// How many tokens of `text` a proposal reads that no earlier one has read: of a draft model, the
    /// whole prompt at first.
    fn unread(&self, _text: &Text<'_>) -> usize {
        0
    }

    /// Reads the next `most` of these ahead of a proposal.
    ///
    /// # Errors
    /// Those of a model, for example.
    fn read(&mut self, _text: &Text<'_>, _most: usize) -> Result<()> {
        Ok(())
    }

    /// The distributions, `[vocab]` each, from which the tokens of the last proposal were drawn, in
    /// order. A token without one was certain. Only [`Acceptance::Residual`](super::Acceptance) asks.
    fn distributions(&self) -> &[Vec<f32>] {
        &[]
    }
}

/// A text so far, as a draft sees it.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// All tokens, those of the prompt first.
    pub tokens: &'a [u32],
    /// How many of them are the prompt.
    pub prompt: usize,
    /// The sampler that draws the next token. A clone of it will draw the same numbers.
    pub sampler: &'a Sampler,
}
