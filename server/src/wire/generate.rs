//! `/generate`, the library's own request as JSON, and `/candidates`.

use garde::Validate;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::WireUsage;
use super::options::some_tokens;

/// A prompt to continue.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct GenerateBody {
    pub prompt: String,
    /// The most tokens to generate, or -1: until the context or the KV cache is full. Default 256.
    #[garde(inner(custom(some_tokens)))]
    #[schema(minimum = -1)]
    pub max_tokens: Option<i64>,
    /// Server-sent events, one for each token. Default false.
    pub stream: Option<bool>,
    /// The log-probability of each token, and of so many of the most likely ones.
    #[garde(inner(range(max = 50)))]
    #[schema(maximum = 50)]
    pub logprobs: Option<usize>,
}

/// A generated text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Generated {
    pub text: String,
    pub tokens: Vec<StreamedToken>,
    #[serde(flatten)]
    pub end: GeneratedEnd,
}

/// One token.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StreamedToken {
    /// Its text: whole UTF-8. The joined texts are the whole text.
    pub token: String,
    pub token_id: u32,
    /// From 0.
    pub index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logprob: Option<f32>,
    /// The most likely tokens at this place, under the model's own distribution.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<Candidate>,
}

/// The end of a text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct GeneratedEnd {
    /// `eos`, `stop_id`, `stop_string`, `length`, `context` or `deadline`.
    pub finish_reason: &'static str,
    pub usage: WireUsage,
    /// Seconds in the queue.
    pub queue_seconds: f64,
    /// Seconds to the first token; null without one.
    pub ttft_seconds: Option<f64>,
    /// Seconds for each token after the first; null with fewer than two.
    pub tpot_seconds: Option<f64>,
    /// Seconds until the sequence ended.
    pub total_seconds: f64,
}

/// A prompt whose next token is asked for.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct CandidatesRequest {
    pub prompt: String,
    /// How many to return. Default 10.
    #[garde(inner(range(min = 1, max = 100)))]
    #[schema(minimum = 1, maximum = 100)]
    pub count: Option<usize>,
    /// Divides the scores; 0 is greedy. Default 1.
    #[schema(minimum = 0)]
    pub temperature: Option<f64>,
    /// Keep the k most likely tokens. 0 or -1 keeps all.
    #[schema(minimum = -1)]
    pub top_k: Option<i64>,
    /// Keep the smallest set of most likely tokens whose probabilities sum to this. Default 1.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    pub top_p: Option<f64>,
    /// Keep the tokens that are at least this share as likely as the most likely one.
    #[schema(minimum = 0, maximum = 1)]
    pub min_p: Option<f64>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub other: Map<String, Value>,
}

/// The most likely next tokens, best first.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Candidates {
    pub candidates: Vec<Candidate>,
    /// How many tokens the sampler chooses among.
    pub survivors: usize,
    /// Of so many.
    pub vocab_size: usize,
    /// The entropy of the distribution that the sampler draws from, in bits.
    pub entropy_bits: f64,
}

/// A token that may come next.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Candidate {
    pub token: String,
    pub token_id: u32,
    /// Its probability under the model's own distribution.
    pub probability: f64,
    /// Its probability after all rules of the sampler; left out where no sampler was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<f64>,
}
