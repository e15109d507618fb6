//! How many tokens may still come.

use super::FinishReason;
use crate::error::Result;
use crate::model::Model;

/// How many tokens may still come, and why no more than that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenLimit {
    pub(crate) left: usize,
    /// Whether it is the context that is full in the end, and not the request.
    is_context: bool,
}

impl TokenLimit {
    // ANCHOR: new
    /// For a generation of up to `max_tokens` from `prompt`, which together fit the context.
    ///
    /// # Errors
    /// A prompt that the model cannot start from.
    pub(crate) fn new(model: &Model, prompt: &[u32], max_tokens: usize) -> Result<Self> {
        model.check_prompt(prompt)?;
        let context = model.config().context_length - prompt.len();
        Ok(Self {
            left: max_tokens.min(context),
            is_context: context < max_tokens,
        })
    }
    // ANCHOR_END: new

    /// Why a generation ended that came to the limit.
    pub(crate) fn reason(&self) -> FinishReason {
        if self.is_context {
            FinishReason::Context
        } else {
            FinishReason::Length
        }
    }
}
