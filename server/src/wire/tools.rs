//! Tools, and their calls.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Something that the model may call.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct Tool {
    #[serde(rename = "type")]
    pub kind: ToolKind,
    pub function: Function,
}

/// The only kind of tool that is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    Function,
}

/// A function of the caller's.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct Function {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The schema of its arguments, an object. None: it has no arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Value>,
    /// Has no effect: arguments are always valid under the schema, but for the pattern and the length of strings of
    /// models that write each argument in tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

/// Whether the model calls a tool, and which.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(
    untagged,
    expecting = "\"none\", \"auto\", \"required\", or an object with the type `function` and the name of one"
)]
pub enum ToolChoice {
    Mode(ToolMode),
    /// This one.
    Named(NamedTool),
}

/// Whether the model calls a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolMode {
    /// It writes a text.
    None,
    /// It writes a text, or calls tools.
    Auto,
    /// It calls at least one.
    Required,
}

/// The choice of a tool.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct NamedTool {
    #[serde(rename = "type")]
    #[expect(dead_code, reason = "another type does not parse")]
    pub kind: ToolKind,
    pub function: FunctionName,
}

/// The name of a function.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct FunctionName {
    pub name: String,
}

/// A tool as `/v1/responses` has it: the function is not within.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct FlatTool {
    #[serde(rename = "type")]
    pub kind: ToolKind,
    pub name: String,
    pub description: Option<String>,
    /// The schema of its arguments, an object. None: it has no arguments.
    pub parameters: Option<Value>,
    /// Has no effect: arguments are always valid under the schema, but for the pattern and the length of strings of
    /// models that write each argument in tags.
    pub strict: Option<bool>,
}

impl From<FlatTool> for Tool {
    fn from(tool: FlatTool) -> Self {
        let FlatTool { kind, name, description, parameters, strict } = tool;
        Self {
            kind,
            function: Function { name, description, parameters, strict },
        }
    }
}

/// Whether the model calls a tool, and which, as `/v1/responses` has it.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(
    untagged,
    expecting = "\"none\", \"auto\", \"required\", or an object with the type `function` and the name of one"
)]
pub enum FlatToolChoice {
    Mode(ToolMode),
    /// This one.
    Named(FlatNamedTool),
}

/// The choice of a tool, as `/v1/responses` has it.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct FlatNamedTool {
    #[serde(rename = "type")]
    pub kind: ToolKind,
    pub name: String,
}

impl From<FlatToolChoice> for ToolChoice {
    fn from(choice: FlatToolChoice) -> Self {
        match choice {
            FlatToolChoice::Mode(mode) => Self::Mode(mode),
            FlatToolChoice::Named(FlatNamedTool { kind, name }) => {
                Self::Named(NamedTool { kind, function: FunctionName { name } })
            }
        }
    }
}

/// A call in an assistant's message of a request.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct SentToolCall {
    pub id: String,
    #[serde(rename = "type")]
    #[expect(dead_code, reason = "another type does not parse")]
    pub kind: Option<ToolKind>,
    pub function: SentFunctionCall,
}

/// A function with its arguments.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct SentFunctionCall {
    pub name: String,
    /// A JSON object as text, or as an object. None, and an empty text, are an object without fields.
    #[serde(default)]
    pub arguments: Value,
}

/// A call in an assistant's message.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct WireToolCall {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: ToolKind,
    pub function: WireFunctionCall,
}

/// A function with its arguments.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
pub struct WireFunctionCall {
    pub name: String,
    /// A JSON object as text. It ends early where the answer does.
    pub arguments: String,
}

/// What a chunk adds to a call. Its first has the id and the name.
#[derive(Debug, Clone, Serialize)]
pub struct ToolCallDelta {
    /// Of the calls of this answer, from 0.
    pub index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolKind>,
    pub function: FunctionDelta,
}

/// What a chunk adds to a call's function.
#[derive(Debug, Clone, Serialize)]
pub struct FunctionDelta {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub arguments: String,
}
