//! Text to token ids and back.

mod incremental;
mod stop_strings;

use std::str::FromStr;

use crate::error::{Error, Result};
pub use incremental::IncrementalDecoder;
pub use stop_strings::{StopMatch, StopStrings};

/// A tokenizer as `tokenizer.json` describes it.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    inner: tokenizers::Tokenizer,
    origin: String,
}

impl Tokenizer {
    /// Reads a `tokenizer.json`. `origin` names it in errors.
    ///
    /// # Errors
    /// JSON that does not describe a tokenizer.
    pub fn from_json(json: &[u8], origin: &str) -> Result<Self> {
        let text = std::str::from_utf8(json).map_err(|error| unusable(origin, error))?;
        let inner =
            tokenizers::Tokenizer::from_str(text).map_err(|error| unusable(origin, error))?;
        Ok(Self { inner, origin: origin.to_owned() })
    }

    /// The ids of `text`. Where the tokenizer says that a sequence begins with a special token,
    /// that comes first.
    ///
    /// # Errors
    /// Text that this tokenizer has no tokens for.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        match self.inner.encode(text, true) {
            Ok(encoding) => Ok(encoding.get_ids().to_vec()),
            Err(error) => Err(unusable(&self.origin, error)),
        }
    }

    /// The text of `ids`, without special tokens. Bytes that are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// Ids that the tokenizer's decoder fails on.
    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        self.inner.decode(ids, true).map_err(|error| unusable(&self.origin, error))
    }

    /// The text of one token as it stands in the vocabulary, if the id is in it.
    pub fn token(&self, id: u32) -> Option<String> {
        self.inner.id_to_token(id)
    }

    /// The largest id, special tokens included. Ids may have gaps.
    pub fn largest_id(&self) -> Option<u32> {
        self.inner.get_vocab(true).into_values().max()
    }

    /// How many tokens there are, special ones included.
    pub fn vocab_size(&self) -> usize {
        self.inner.get_vocab_size(true)
    }
}

fn unusable(origin: &str, error: impl ToString) -> Error {
    Error::Tokenizer { origin: origin.to_owned(), message: error.to_string() }
}
