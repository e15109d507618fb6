//! What an answer must look like: the fields that completions and chat completions share.

use garde::Validate;
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Which texts are allowed. One field at most asks for something.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct FormatOptions {
    pub response_format: Option<ResponseFormat>,
    /// The newer form of vLLM.
    pub structured_outputs: Option<StructuredOutputs>,
    /// vLLM: JSON that is valid under this schema, an object or its text.
    pub guided_json: Option<Value>,
    /// vLLM: texts that this regular expression matches as a whole.
    pub guided_regex: Option<String>,
    /// vLLM: one of these texts.
    pub guided_choice: Option<Vec<String>>,
    /// vLLM: texts of this grammar, in the syntax of Lark.
    pub guided_grammar: Option<String>,
}

/// What an answer must look like.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ResponseFormat {
    /// Any text.
    Text {
        #[serde(flatten)]
        #[schema(ignore)]
        other: Map<String, Value>,
    },
    /// A JSON object.
    JsonObject {
        /// As that of `json_schema`.
        schema: Option<Value>,
        #[serde(flatten)]
        #[schema(ignore)]
        other: Map<String, Value>,
    },
    /// JSON that is valid under a schema, whether or not it is `strict`.
    JsonSchema {
        json_schema: Option<NamedSchema>,
        /// In the place of `json_schema`, as llama.cpp has it.
        schema: Option<Value>,
        #[serde(flatten)]
        #[schema(ignore)]
        other: Map<String, Value>,
    },
}

/// A schema with its name. Only the schema has an effect.
#[derive(Debug, Clone, Deserialize, ToSchema)]
pub struct NamedSchema {
    /// Any object, where there is none.
    pub schema: Option<Value>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub other: Map<String, Value>,
}

/// One of these fields says which texts are allowed.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
pub struct StructuredOutputs {
    /// JSON that is valid under this schema, an object or its text.
    pub json: Option<Value>,
    /// A JSON object.
    pub json_object: Option<bool>,
    /// Texts that this regular expression matches as a whole.
    pub regex: Option<String>,
    /// One of these texts.
    pub choice: Option<Vec<String>>,
    /// Texts of this grammar, in the syntax of Lark.
    pub grammar: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    pub other: Map<String, Value>,
}
