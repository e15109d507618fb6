//! What a chat template is told besides the messages and tools.

use std::collections::BTreeMap;

use garde::Validate;
use serde::Deserialize;
use slowburn::tokenizer::Variable;
use utoipa::ToSchema;

use super::{ChatCompletionRequest, FormatOptions, SamplingOptions, TokenizeRequest};

/// A conversation to answer, with all of its fields. Each part is parsed by itself, so that an error
/// names its field.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub struct DescribedChat {
    #[serde(flatten)]
    pub request: ChatCompletionRequest,
    #[serde(flatten)]
    pub sampling: SamplingOptions,
    #[serde(flatten)]
    pub format: FormatOptions,
    #[serde(flatten)]
    pub template: TemplateOptions,
}

/// What to split into tokens, with all fields.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described")]
pub struct DescribedTokenize {
    #[serde(flatten)]
    pub request: TokenizeRequest,
    #[serde(flatten)]
    pub template: TemplateOptions,
}

/// How the model's chat template writes the conversation, in the words of vLLM and transformers.
#[derive(Debug, Clone, Default, Deserialize, Validate, ToSchema)]
#[garde(allow_unvalidated)]
pub struct TemplateOptions {
    /// Whether the conversation ends with the beginning of an answer. Default true, and false with
    /// `continue_final_message`.
    pub add_generation_prompt: Option<bool>,
    /// Go on with the last message instead of answering it: the text of the response continues that
    /// message's text. Default false.
    pub continue_final_message: Option<bool>,
    /// Variables of the template. They come before fields of the request.
    #[schema(value_type = Option<BTreeMap<String, Value>>)]
    pub chat_template_kwargs: Option<BTreeMap<String, Variable>>,
    /// Documents for templates that write them into the prompt: objects, most often with a `title` and
    /// a `text`.
    #[schema(value_type = Option<Vec<BTreeMap<String, Value>>>)]
    pub documents: Option<Variable>,
    /// Whether the model thinks before it answers, for templates that know the variable `enable_thinking`
    /// or `thinking`.
    pub enable_thinking: Option<bool>,
    /// The variable `reasoning_effort` of the template, for models that know one.
    pub reasoning_effort: Option<String>,
}
