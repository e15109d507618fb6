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
    /// The most tokens to generate, or -1: until the context or the KV cache is full. Default 16.
    #[garde(inner(range(min = -1)))]
    #[schema(minimum = -1)]
    pub max_tokens: Option<i64>,
    /// How many completions of each prompt. Default 1.
    #[garde(inner(range(min = 1)))]
    #[schema(minimum = 1)]
    pub n: Option<usize>,
    /// Generate so many, and return the `n` with the greatest mean log-probability.
    #[garde(inner(range(min = 1)))]
    #[schema(minimum = 1)]
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
    /// Whether the texts of special tokens, such as `<|end|>`, are special tokens in a prompt.
    /// Default true: whoever sends a prompt here may write what a chat template would.
    pub parse_special: Option<bool>,
    /// Whether to add the special tokens that the model's tokenizer adds to a prompt, most often one at
    /// its beginning. Default true.
    pub add_special_tokens: Option<bool>,
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
