//! A model with its tokenizer.

use crate::error::Result;
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
}
