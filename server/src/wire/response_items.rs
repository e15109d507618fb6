//! What a conversation of `/v1/responses` is made of: messages, calls of tools, and what these returned.

use garde::Validate;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::ChatTokenLogprob;
use super::chat::WireRole;

/// What is to be answered.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only described: each item is parsed by itself")]
pub enum ResponsesInput {
    /// A message of the user.
    Text(String),
    Items(Vec<InputItem>),
}

/// An item of a conversation.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only described: its type says which it is")]
pub enum InputItem {
    Message(InputMessage),
    Thought(InputThought),
    Call(InputCall),
    CallOutput(InputCallOutput),
}

/// A message.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct InputMessage {
    #[serde(rename = "type")]
    #[expect(dead_code, reason = "another type does not parse")]
    pub kind: Option<MessageType>,
    pub role: WireRole,
    pub content: InputContent,
}

/// The type of a message.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MessageType {
    Message,
}

/// What the model thought before its next message or call, for templates that write it.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct InputThought {
    #[serde(rename = "type")]
    #[expect(dead_code, reason = "another type does not parse")]
    pub kind: ThoughtType,
    /// The thought itself.
    pub content: Option<Vec<ThoughtText>>,
    /// A summary, which counts where there is no `content`.
    pub summary: Option<Vec<ThoughtText>>,
}

impl InputThought {
    pub(crate) fn into_text(self) -> String {
        let text = |parts: Option<Vec<ThoughtText>>| -> String {
            parts.into_iter().flatten().map(|part| part.text).collect()
        };
        let content = text(self.content);
        if content.is_empty() {
            text(self.summary)
        } else {
            content
        }
    }
}

/// A part of a thought.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct ThoughtText {
    #[serde(rename = "type")]
    pub kind: ThoughtTextType,
    pub text: String,
}

/// The type of a part of a thought.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThoughtTextType {
    ReasoningText,
    SummaryText,
}

/// The type of a thought.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThoughtType {
    Reasoning,
}

/// A call that the model has made.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct InputCall {
    #[serde(rename = "type")]
    #[expect(dead_code, reason = "another type does not parse")]
    pub kind: CallType,
    pub call_id: String,
    pub name: String,
    /// A JSON object as text.
    pub arguments: String,
}

/// The type of a call.
#[derive(Debug, Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallType {
    FunctionCall,
}

/// What a call returned.
#[derive(Debug, Clone, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct InputCallOutput {
    #[serde(rename = "type")]
    #[expect(dead_code, reason = "another type does not parse")]
    pub kind: CallOutputType,
    /// That of the call.
    pub call_id: String,
    pub output: InputContent,
}

/// The type of what a call returned.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallOutputType {
    FunctionCallOutput,
}

/// A text, whole or in parts.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(
    untagged,
    expecting = "a string, or a list of parts of type `input_text` or `output_text`"
)]
pub enum InputContent {
    Text(String),
    Parts(Vec<InputPart>),
}

/// A part of a text. This server reads text only.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InputPart {
    InputText { text: String },
    OutputText { text: String },
}

impl InputContent {
    pub(crate) fn into_text(self) -> String {
        let text = |part| match part {
            InputPart::InputText { text } | InputPart::OutputText { text } => text,
        };
        match self {
            InputContent::Text(text) => text,
            InputContent::Parts(parts) => parts.into_iter().map(text).collect(),
        }
    }
}

/// How far an answer or one of its items is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseStatus {
    InProgress,
    Completed,
    Incomplete,
}

/// A part of an answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum OutputItem {
    Thought(OutputThought),
    Message(OutputMessage),
    Call(OutputCall),
}

/// What the model thought before it answered.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OutputThought {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: ThoughtType,
    pub status: ResponseStatus,
    /// Always empty: the whole thought is in `content`.
    #[schema(value_type = Vec<Value>)]
    pub summary: [Value; 0],
    /// One part; none before its text has begun.
    pub content: Vec<ThoughtText>,
}

/// The message of an answer.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OutputMessage {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub role: &'static str,
    pub status: ResponseStatus,
    /// One part; none before its text has begun.
    pub content: Vec<OutputText>,
}

/// The text of a message.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OutputText {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub text: String,
    #[schema(value_type = Vec<Value>)]
    pub annotations: [Value; 0],
    pub logprobs: Vec<ChatTokenLogprob>,
}

/// A call of a tool.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct OutputCall {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: CallType,
    pub status: ResponseStatus,
    /// What the output of the call is to name.
    pub call_id: String,
    pub name: String,
    /// A JSON object as text. It ends early where the answer does.
    pub arguments: String,
}
