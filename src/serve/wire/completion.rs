//! `/v1/completions`.

use garde::Validate;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{CompletionLogprobs, PromptInput, StreamOptions, WireFinish, WireUsage};

/// A prompt to continue.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct CompletionRequest {
    /// The name of the model; the one that is here, where none is given.
    pub model: Option<String>,
    pub prompt: PromptInput,
    /// The most tokens to generate. Default 16.
    pub max_tokens: Option<usize>,
    /// How many completions of each prompt. Default 1.
    #[garde(inner(range(min = 1, max = 128)))]
    #[schema(minimum = 1, maximum = 128)]
    pub n: Option<usize>,
    /// Generate so many, and return the `n` with the greatest mean log-probability.
    #[garde(inner(range(min = 1, max = 128)))]
    #[schema(minimum = 1, maximum = 128)]
    pub best_of: Option<usize>,
    /// Server-sent events instead of one object. Default false.
    pub stream: Option<bool>,
    pub stream_options: Option<StreamOptions>,
    /// The log-probability of each token, and of so many of the most likely ones.
    #[garde(inner(range(max = 20)))]
    #[schema(maximum = 20)]
    pub logprobs: Option<usize>,
    /// Return the prompt before the completion. Default false.
    pub echo: Option<bool>,
    /// Text after the completion: not supported, as this model only continues a text.
    #[garde(inner(length(max = 0)))]
    #[schema(max_length = 0)]
    pub suffix: Option<String>,
}

/// The completions.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Completion {
    pub id: String,
    pub object: &'static str,
    /// In seconds since 1970.
    pub created: u64,
    pub model: String,
    pub choices: Vec<CompletionChoice>,
    pub usage: WireUsage,
}

/// One completion, or a piece of one.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CompletionChoice {
    pub index: usize,
    pub text: String,
    pub logprobs: Option<CompletionLogprobs>,
    /// Null while the text goes on.
    pub finish_reason: Option<WireFinish>,
}

/// An event of a stream.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CompletionChunk {
    pub id: String,
    pub object: &'static str,
    /// In seconds since 1970.
    pub created: u64,
    pub model: String,
    /// Empty in the chunk that has the usage.
    pub choices: Vec<CompletionChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<WireUsage>,
}
