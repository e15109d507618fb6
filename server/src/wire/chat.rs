//! `/v1/chat/completions`.

use garde::Validate;
use serde::{Deserialize, Serialize};
use slowburn::tokenizer::Role;
use utoipa::ToSchema;

use super::options::some_tokens;
use super::{
    ChatLogprobs, SentToolCall, StreamOptions, Tool, ToolCallDelta, ToolChoice, WireFinish,
    WireToolCall, WireUsage,
};

/// A conversation to answer.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct ChatCompletionRequest {
    /// The name of the model; the one that is here, where none is given.
    pub model: Option<String>,
    #[garde(length(min = 1), dive)]
    #[schema(min_items = 1)]
    pub messages: Vec<ChatMessage>,
    /// The most tokens to generate. Default, and -1: until the context or the KV cache is full.
    #[garde(inner(custom(some_tokens)))]
    #[schema(minimum = -1)]
    pub max_completion_tokens: Option<i64>,
    /// The older name; `max_completion_tokens` comes first.
    #[garde(inner(custom(some_tokens)))]
    #[schema(minimum = -1)]
    pub max_tokens: Option<i64>,
    /// The most tokens of the thought before the answer, as `thinking_token_budget` is elsewhere. Behind that many
    /// the mark that ends it is forced. They count as tokens of the answer.
    #[serde(alias = "thinking_token_budget")]
    pub max_reasoning_tokens: Option<usize>,
    /// How many answers. Default 1.
    #[garde(inner(range(min = 1)))]
    #[schema(minimum = 1)]
    pub n: Option<usize>,
    /// Server-sent events instead of one object. Default false.
    pub stream: Option<bool>,
    pub stream_options: Option<StreamOptions>,
    /// The log-probability of each token. Default false.
    pub logprobs: Option<bool>,
    /// With `logprobs`: so many of the most likely tokens.
    #[garde(inner(range(max = 20)))]
    #[schema(maximum = 20)]
    pub top_logprobs: Option<usize>,
    /// What the model may call.
    pub tools: Option<Vec<Tool>>,
    /// Whether it calls a tool. Default `auto`.
    pub tool_choice: Option<ToolChoice>,
    /// Whether it may call several tools at once, where its format of calls has room for that. Default
    /// true.
    pub parallel_tool_calls: Option<bool>,
    /// Whether the texts of special tokens, such as `<|end|>`, are special tokens in the messages
    /// too. Default false: there they are text.
    pub parse_special: Option<bool>,
    /// Only false: a chat template writes all special tokens itself.
    pub add_special_tokens: Option<bool>,
}

/// One message of a conversation.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct ChatMessage {
    pub role: WireRole,
    pub content: Option<Content>,
    /// Of an assistant: the tools that it has called.
    pub tool_calls: Option<Vec<SentToolCall>>,
    /// Of a tool: the id of the call that it answers.
    pub tool_call_id: Option<String>,
    /// For templates that write it.
    pub name: Option<String>,
    /// Of an assistant: what the model thought before it answered, for templates that write it.
    pub reasoning_content: Option<String>,
    /// The same, in the words of newer servers.
    pub reasoning: Option<String>,
    /// Of the last message, if it is the assistant's: go on with it instead of answering. The same as
    /// `continue_final_message`. Default false.
    pub prefix: Option<bool>,
}

impl ChatMessage {
    /// What the model thought, if it thought anything, and the name of the field that says so.
    pub(crate) fn reasoning(&self) -> Option<(&'static str, &str)> {
        let fields = [
            ("reasoning_content", &self.reasoning_content),
            ("reasoning", &self.reasoning),
        ];
        let mut texts =
            fields.into_iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
        texts.find(|(_, text)| !text.is_empty())
    }
}

/// The author of a message, as far as the model's template knows it.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WireRole {
    System,
    Developer,
    User,
    Assistant,
    Tool,
}

impl From<WireRole> for Role {
    fn from(role: WireRole) -> Self {
        match role {
            WireRole::System => Role::System,
            WireRole::Developer => Role::Developer,
            WireRole::User => Role::User,
            WireRole::Assistant => Role::Assistant,
            WireRole::Tool => Role::Tool,
        }
    }
}

/// The text of a message, whole or in parts.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged, expecting = "a string, or a list of parts of type \"text\"")]
pub enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// A part of a message. This server reads text only.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Part {
    Text { text: String },
}

impl Content {
    pub(crate) fn into_text(self) -> String {
        match self {
            Content::Text(text) => text,
            Content::Parts(parts) => parts.into_iter().map(|Part::Text { text }| text).collect(),
        }
    }
}

/// The answers.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ChatCompletion {
    pub id: String,
    pub object: &'static str,
    /// In seconds since 1970.
    pub created: u64,
    pub model: String,
    pub choices: Vec<ChatChoice>,
    pub usage: WireUsage,
}

/// One answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ChatChoice {
    pub index: usize,
    pub message: ReplyMessage,
    pub logprobs: Option<ChatLogprobs>,
    pub finish_reason: WireFinish,
}

/// The message of an answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ReplyMessage {
    pub role: &'static str,
    /// Null where there are only calls.
    pub content: Option<String>,
    /// What the model thought before it answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<WireToolCall>,
}

/// A piece of an answer.
#[derive(Debug, Clone, Serialize)]
pub struct ChatChunkChoice {
    pub index: usize,
    pub delta: Delta,
    pub logprobs: Option<ChatLogprobs>,
    /// Null while the text goes on.
    pub finish_reason: Option<WireFinish>,
}

/// What a chunk adds to the message: the role at first, then thoughts, text or calls, and nothing at
/// the end.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Delta {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCallDelta>,
}
