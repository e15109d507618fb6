//! Log-probabilities on the wire: one form for completions, another for chat completions.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

/// The log-probabilities of a completion, as lists of equal length.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct CompletionLogprobs {
    /// Each token as text.
    pub tokens: Vec<String>,
    /// The log-probability of each; null for the first token of an echoed prompt.
    pub token_logprobs: Vec<Option<f32>>,
    /// The most likely tokens at each place.
    pub top_logprobs: Vec<Option<BTreeMap<String, f32>>>,
    /// Where each token begins in the text, in characters.
    pub text_offset: Vec<usize>,
}

/// The log-probabilities of a chat completion.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct ChatLogprobs {
    pub content: Vec<ChatTokenLogprob>,
}

/// One token of a chat completion.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChatTokenLogprob {
    #[serde(flatten)]
    pub chosen: TopLogprob,
    /// The most likely tokens at this place.
    pub top_logprobs: Vec<TopLogprob>,
}

/// A token and its log-probability.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct TopLogprob {
    /// As text; a token that is a part of a character has U+FFFD in its place.
    pub token: String,
    pub logprob: f32,
    /// Its bytes, which a reader can join to whole characters.
    pub bytes: Option<Vec<u8>>,
}
