//! The prompt of a completion request.

use serde::Deserialize;
use utoipa::ToSchema;

/// One prompt or several, as text or as token ids.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(
    untagged,
    expecting = "a string, a list of strings, a list of token ids, or a list of lists of token ids"
)]
pub enum PromptInput {
    Text(String),
    Texts(Vec<String>),
    Ids(Vec<u32>),
    ManyIds(Vec<Vec<u32>>),
}

impl PromptInput {
    /// The number of prompts.
    pub(crate) fn count(&self) -> usize {
        match self {
            PromptInput::Text(_) | PromptInput::Ids(_) => 1,
            PromptInput::Texts(texts) => texts.len(),
            PromptInput::ManyIds(many) => many.len(),
        }
    }
}
