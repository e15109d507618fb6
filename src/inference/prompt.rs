//! The prompt of a request.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::pretrained::Pretrained;

/// A text, or token ids. In JSON: a string, or a list of numbers. If empty, the prompt is the
/// begin-of-sequence token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a prompt must be a string, or a list of token ids"
)]
pub enum Prompt {
    Text(String),
    Ids(Vec<u32>),
}

impl Prompt {
    /// The token ids of the prompt.
    pub(super) fn ids(&self, pretrained: &Pretrained) -> Result<Vec<u32>> {
        match self {
            Prompt::Text(text) => pretrained.prompt_ids(text),
            Prompt::Ids(ids) if ids.is_empty() => pretrained.prompt_ids(""),
            Prompt::Ids(ids) => Ok(ids.clone()),
        }
    }
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Prompt::Text(text.to_owned())
    }
}

impl From<String> for Prompt {
    fn from(text: String) -> Self {
        Prompt::Text(text)
    }
}

impl From<Vec<u32>> for Prompt {
    fn from(ids: Vec<u32>) -> Self {
        Prompt::Ids(ids)
    }
}
