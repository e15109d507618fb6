//! The limit on generated tokens.

use super::FinishReason;
use crate::error::Result;
use crate::model::Model;

/// The number of tokens that are left to generate, and the reason for the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenLimit {
    pub(crate) left: usize,
    /// Whether the context length sets the limit, not the request.
    is_context: bool,
}

impl TokenLimit {
    /// The limit of a generation of up to `max_tokens` after `prompt`, within the context length.
    ///
    /// # Errors
    /// A prompt that [`Model::check_prompt`] rejects.
    pub(crate) fn new(model: &Model, prompt: &[u32], max_tokens: usize) -> Result<Self> {
        model.check_prompt(prompt)?;
        let context = model.config().context_length - prompt.len();
        Ok(Self {
            left: max_tokens.min(context),
            is_context: context < max_tokens,
        })
    }

    /// The finish reason of a generation that reached the limit.
    pub(crate) fn reason(&self) -> FinishReason {
        if self.is_context {
            FinishReason::Context
        } else {
            FinishReason::Length
        }
    }
}
