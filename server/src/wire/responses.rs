//! `/v1/responses`.

use std::collections::BTreeMap;

use garde::Validate;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use slowburn::tokenizer::Variable;
use utoipa::ToSchema;

use super::response_items::{OutputItem, OutputText, ResponseStatus, ResponsesInput, ThoughtText};
use super::tools::{FlatTool, FlatToolChoice};
use super::{ChatTokenLogprob, WireUsage};

/// A text or a conversation to answer.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct ResponseRequest {
    /// The name of the model; the one that is here, where none is given.
    pub model: Option<String>,
    #[schema(value_type = ResponsesInput)]
    pub input: Value,
    /// The system's message, before all others.
    pub instructions: Option<String>,
    /// The most tokens to generate. Default: until the context or the KV cache is full.
    #[garde(inner(range(min = 1)))]
    #[schema(minimum = 1)]
    pub max_output_tokens: Option<i64>,
    /// As in a chat: the most tokens of the thought before the answer, which count as tokens of the answer.
    #[serde(alias = "thinking_token_budget")]
    pub max_reasoning_tokens: Option<usize>,
    /// As in a chat: variables of the model's chat template.
    #[schema(value_type = Option<BTreeMap<String, Value>>)]
    pub chat_template_kwargs: Option<BTreeMap<String, Variable>>,
    /// As in a chat: whether the model thinks before it answers.
    pub enable_thinking: Option<bool>,
    /// Server-sent events instead of one object. Default false.
    pub stream: Option<bool>,
    /// With `message.output_text.logprobs`: the log-probability of each token.
    pub include: Option<Vec<String>>,
    /// So many of the most likely tokens at each place.
    #[garde(inner(range(max = 20)))]
    #[schema(maximum = 20)]
    pub top_logprobs: Option<usize>,
    /// What the model may call.
    pub tools: Option<Vec<FlatTool>>,
    /// Whether it calls a tool. Default `auto`.
    pub tool_choice: Option<FlatToolChoice>,
    /// Whether it may call several tools at once, where its format of calls has room for that. Default
    /// true.
    pub parallel_tool_calls: Option<bool>,
    /// Repeated in the answer.
    pub metadata: Option<BTreeMap<String, String>>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub other: Map<String, Value>,
}

/// The answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ResponseObject {
    pub id: String,
    pub object: &'static str,
    /// In seconds since 1970.
    pub created_at: u64,
    pub status: ResponseStatus,
    pub background: bool,
    pub error: Option<Value>,
    /// Why the text is not complete.
    pub incomplete_details: Option<Incomplete>,
    pub instructions: Option<String>,
    pub max_output_tokens: Option<i64>,
    pub metadata: BTreeMap<String, String>,
    pub model: String,
    /// Thoughts, a message and calls of tools, as far as there are any; none before the end.
    pub output: Vec<OutputItem>,
    pub parallel_tool_calls: bool,
    pub previous_response_id: Option<String>,
    /// Nothing is kept here.
    pub store: bool,
    pub temperature: f64,
    pub tool_choice: FlatToolChoice,
    pub tools: Vec<FlatTool>,
    pub top_logprobs: usize,
    pub top_p: f64,
    pub truncation: &'static str,
    /// Null before the end.
    pub usage: Option<ResponseUsage>,
}

/// Why a text is not complete.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Incomplete {
    /// `max_output_tokens`, also where the context is full or the time is up.
    pub reason: &'static str,
}

/// The tokens of an answer.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct ResponseUsage {
    pub input_tokens: usize,
    pub input_tokens_details: InputTokensDetails,
    pub output_tokens: usize,
    pub output_tokens_details: OutputTokensDetails,
    pub total_tokens: usize,
}

/// More on the tokens of the input.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct InputTokensDetails {
    /// Those that the prefix cache spared.
    pub cached_tokens: usize,
    /// Always 0: what the prefix cache keeps is not counted.
    pub cache_write_tokens: usize,
}

/// More on the tokens of the output.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct OutputTokensDetails {
    /// Those of thoughts.
    pub reasoning_tokens: usize,
}

impl From<WireUsage> for ResponseUsage {
    fn from(usage: WireUsage) -> Self {
        let cached_tokens = usage.prompt_tokens_details.cached_tokens;
        let reasoning_tokens =
            usage.completion_tokens_details.map_or(0, |details| details.reasoning_tokens);
        Self {
            input_tokens: usage.prompt_tokens,
            input_tokens_details: InputTokensDetails { cached_tokens, cache_write_tokens: 0 },
            output_tokens: usage.completion_tokens,
            output_tokens_details: OutputTokensDetails { reasoning_tokens },
            total_tokens: usage.total_tokens,
        }
    }
}

/// An event of a stream.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ResponseEvent {
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// From 0.
    pub sequence_number: usize,
    #[serde(flatten)]
    pub of: EventBody,
}

/// A part of an item.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EventPart {
    Text(OutputText),
    Thought(ThoughtText),
}

/// What an event says, by its type.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EventBody {
    /// The whole answer as it is: created, in progress, completed or incomplete.
    Response { response: Box<ResponseObject> },
    /// A thought, a message or a call begins or ends.
    Item {
        output_index: usize,
        item: OutputItem,
    },
    /// A part of a thought or of a message begins or ends.
    Part {
        item_id: String,
        output_index: usize,
        content_index: usize,
        part: EventPart,
    },
    /// More text.
    Delta {
        item_id: String,
        output_index: usize,
        content_index: usize,
        delta: String,
        logprobs: Vec<ChatTokenLogprob>,
    },
    /// The whole text of a part.
    Text {
        item_id: String,
        output_index: usize,
        content_index: usize,
        text: String,
        logprobs: Vec<ChatTokenLogprob>,
    },
    /// More of a thought.
    ThoughtDelta {
        item_id: String,
        output_index: usize,
        content_index: usize,
        delta: String,
    },
    /// A whole thought.
    Thought {
        item_id: String,
        output_index: usize,
        content_index: usize,
        text: String,
    },
    /// More arguments of a call.
    ArgumentsDelta {
        item_id: String,
        output_index: usize,
        delta: String,
    },
    /// All arguments of a call.
    Arguments {
        item_id: String,
        output_index: usize,
        name: String,
        arguments: String,
    },
    /// The answer has failed.
    Failure {
        code: Option<&'static str>,
        message: String,
        param: Option<String>,
        error: crate::error::ErrorDetail,
    },
}
