//! `/generate` in the words of SGLang, as sglang-router sends it.

use garde::Validate;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::WithSampling;

/// Prompts to continue: either `text` or `input_ids`.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct SglangRequest {
    /// The name of the model; the one that is here, where none is given.
    pub model: Option<String>,
    /// One prompt or several.
    pub text: Option<SglangPrompt<String>>,
    /// The same as token ids.
    pub input_ids: Option<SglangPrompt<Vec<u32>>>,
    /// How each token is sampled, and how many there may be.
    #[schema(value_type = Option<WithSampling<SglangSampling>>)]
    pub sampling_params: Option<Map<String, Value>>,
    /// Server-sent events, each with the whole text so far. Default false.
    pub stream: Option<bool>,
    /// The name of the request, which the answer repeats.
    pub rid: Option<String>,
    /// The log-probability of each token. Default false.
    pub return_logprob: Option<bool>,
    /// With `return_logprob`: so many of the most likely tokens.
    #[garde(inner(range(max = 50)))]
    #[schema(maximum = 50)]
    pub top_logprobs_num: Option<usize>,
    /// The text of each token beside its log-probability. Default false.
    pub return_text_in_logprobs: Option<bool>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub other: Map<String, Value>,
}

/// One prompt or several.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(
    untagged,
    expecting = "a string or a list of strings, or for input_ids a list of token ids or a list of such lists"
)]
pub enum SglangPrompt<T> {
    One(T),
    Several(Vec<T>),
}

impl<T> SglangPrompt<T> {
    /// The prompts, and whether the answer is a list.
    pub(crate) fn into_list(self) -> (Vec<T>, bool) {
        match self {
            SglangPrompt::One(prompt) => (vec![prompt], false),
            SglangPrompt::Several(prompts) => (prompts, true),
        }
    }
}

/// The sampling parameters that have other names than elsewhere.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct SglangSampling {
    /// The most tokens to generate. Default 128.
    #[garde(inner(range(min = 1)))]
    #[schema(minimum = 1)]
    pub max_new_tokens: Option<i64>,
    /// How many texts for each prompt. Default 1.
    #[garde(inner(range(min = 1)))]
    #[schema(minimum = 1)]
    pub n: Option<usize>,
    /// The same as `seed`.
    pub sampling_seed: Option<i64>,
    /// JSON that is valid under this schema, an object or its text.
    pub json_schema: Option<Value>,
    /// Texts that this regular expression matches as a whole.
    pub regex: Option<String>,
}

/// A text, or what there is of it so far.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SglangGenerated {
    pub text: String,
    pub output_ids: Vec<u32>,
    pub meta_info: SglangMeta,
    /// Which of several texts, in a stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

/// More on a text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SglangMeta {
    pub id: String,
    /// Null while the text goes on.
    pub finish_reason: Option<SglangFinish>,
    pub prompt_tokens: usize,
    pub completion_tokens: usize,
    /// The tokens of the prompt that the prefix cache spared; known at the end.
    pub cached_tokens: usize,
    /// Seconds until the text ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub e2e_latency: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_token_logprobs: Option<Vec<SglangLogprob>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_top_logprobs: Option<Vec<Vec<SglangLogprob>>>,
}

/// A log-probability, the token's id, and its text where that was asked for.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SglangLogprob(pub f32, pub u32, pub Option<String>);

/// Why a text ended.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum SglangFinish {
    /// The model ended it, or a stop string or token did: which one.
    Stop { matched: Value },
    /// It has so many tokens, as many as it may.
    Length { length: usize },
}
