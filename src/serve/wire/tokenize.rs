//! `/tokenize` and `/detokenize`.

use garde::Validate;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A text to split into tokens.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct TokenizeRequest {
    pub text: String,
}

/// The tokens of a text, with the special tokens that the model's tokenizer adds.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Tokenized {
    pub ids: Vec<u32>,
    /// The text of each.
    pub tokens: Vec<String>,
    pub count: usize,
    /// The most tokens of prompt and completion together.
    pub max_model_len: usize,
}

/// Token ids to join to a text.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct DetokenizeRequest {
    pub ids: Vec<u32>,
}

/// The text of token ids, without special tokens.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Detokenized {
    pub text: String,
}
