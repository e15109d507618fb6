//! The fields that completions and chat completions share.

use std::collections::BTreeMap;

use garde::Validate;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{FormatOptions, WireUsage};

/// A request, with the fields of [`SamplingOptions`] beside its own. Each part is parsed by itself,
/// so that an error names its field.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub struct WithSampling<T> {
    #[serde(flatten)]
    pub request: T,
    #[serde(flatten)]
    pub sampling: SamplingOptions,
}

/// As [`WithSampling`], with the fields of [`FormatOptions`] too.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub struct WithFormat<T> {
    #[serde(flatten)]
    pub request: T,
    #[serde(flatten)]
    pub sampling: SamplingOptions,
    #[serde(flatten)]
    pub format: FormatOptions,
}

/// How each token is sampled. Ranges that the library checks are not checked here again.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct SamplingOptions {
    /// Divides the scores; 0 is greedy. Default 1.
    #[schema(minimum = 0)]
    pub temperature: Option<f64>,
    /// Keep the smallest set of most likely tokens whose probabilities sum to this. Default 1.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    pub top_p: Option<f64>,
    /// Keep the k most likely tokens. 0 or -1 keeps all.
    #[schema(minimum = -1)]
    pub top_k: Option<i64>,
    /// Keep the tokens that are at least this share as likely as the most likely one.
    #[schema(minimum = 0, maximum = 1)]
    pub min_p: Option<f64>,
    /// Keep the tokens that are about as surprising as expected.
    #[schema(exclusive_minimum = 0, maximum = 1)]
    pub typical_p: Option<f64>,
    /// Above 1, makes tokens that have occurred less likely. Default 1.
    #[garde(inner(range(min = 0.01, max = 100.0)))]
    #[schema(minimum = 0.01, maximum = 100)]
    pub repetition_penalty: Option<f64>,
    /// Subtracted from a token's score for each time that it was generated. Default 0.
    #[schema(minimum = -2, maximum = 2)]
    pub frequency_penalty: Option<f64>,
    /// Subtracted from the score of every token that was generated. Default 0.
    #[schema(minimum = -2, maximum = 2)]
    pub presence_penalty: Option<f64>,
    /// Added to the scores of these token ids, from -100 to 100.
    pub logit_bias: Option<BTreeMap<u32, f64>>,
    /// The same seed gives the same text. Where several texts of one prompt are asked for, the first
    /// has this seed. The seed of the one at index k is the first 8 bytes of the SHA-256 of seed and
    /// k, both in 8 bytes; all little-endian. Without a seed, each request has one of its own.
    pub seed: Option<i64>,
    /// Strings that end the text, and are not part of it: one, or up to 4.
    pub stop: Option<Stop>,
    /// Token ids that end the text.
    pub stop_token_ids: Option<Vec<u32>>,
    /// Go on after an end-of-sequence token. Default false.
    pub ignore_eos: Option<bool>,
}

impl SamplingOptions {
    /// A number of the request in the library's precision. What is not 0 stays so, and what is
    /// finite stays so.
    pub(crate) fn narrow(number: f64) -> f32 {
        let narrowed = number as f32;
        if narrowed == 0.0 && number != 0.0 {
            f32::MIN_POSITIVE.copysign(narrowed)
        } else {
            narrowed.clamp(f32::MIN, f32::MAX)
        }
    }
}

/// The `max_tokens` of a text that ends only by itself, or with the context or the KV cache.
pub(crate) const NO_LIMIT: i64 = -1;

/// Validates a limit of tokens where at least one is generated.
pub(super) fn some_tokens(limit: &i64, _: &()) -> garde::Result {
    match *limit {
        NO_LIMIT | 1.. => Ok(()),
        _ => Err(garde::Error::new(
            "1 or more, or -1 for as many as the context and the KV cache hold",
        )),
    }
}

/// The most stop strings of a request, as in OpenAI's API.
pub(crate) const MAX_STOPS: usize = 4;

/// One stop string, or several.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged, expecting = "a string, or a list of up to 4 strings")]
pub enum Stop {
    One(String),
    Several(Vec<String>),
}

impl Stop {
    pub(crate) fn into_strings(self) -> Vec<String> {
        match self {
            Stop::One(string) => vec![string],
            Stop::Several(strings) => strings,
        }
    }
}

/// What a stream has beside the text.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
pub struct StreamOptions {
    /// One more chunk before the end, with the token counts of the whole request. All others have
    /// `"usage": null` then.
    pub include_usage: Option<bool>,
}

/// An event of a stream, with pieces of answers.
#[derive(Debug, Clone, Serialize)]
pub struct Chunk<C> {
    pub id: String,
    pub object: &'static str,
    /// In seconds since 1970.
    pub created: u64,
    pub model: String,
    /// Empty in the chunk that has the usage.
    pub choices: Vec<C>,
    /// Null but in the last chunk; absent where it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Option<WireUsage>>,
}
