//! A model with its tokenizer.

use crate::constrained::Constraint;
use crate::error::{RequestError, Result};
use crate::grammar::Grammar;
use crate::model::Model;
use crate::tokenizer::Tokenizer;

pub struct Pretrained {
    pub model: Model,
    pub tokenizer: Tokenizer,
}

impl Pretrained {
    pub(crate) fn prompt_ids(&self, text: &str) -> Result<Vec<u32>> {
        Ok(text.bytes().map(u32::from).collect())
    }

    /// Allows no text: its tokens have no bytes.
    pub(crate) fn constraint(&self, _: &Grammar) -> Result<Constraint> {
        Err(RequestError::GrammarUnspellable.into())
    }
}
