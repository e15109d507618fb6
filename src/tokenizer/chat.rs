//! A conversation as the text that a chat model was trained on.

use std::collections::BTreeMap;

use jiff::civil::DateTime;
use minijinja::Value;
use minijinja::value::Serde;
use serde::Serialize;

use super::config::SpecialTokens;
use super::jinja;
use crate::error::{Error, Result};

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Says how to answer.
    System,
    /// Asks.
    User,
    /// The model.
    Assistant,
}

/// What somebody says in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: String,
}

impl Message {
    /// A message of this role.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}

/// What a template may be told besides the messages.
#[derive(Debug, Clone, Default)]
pub struct ChatOptions {
    /// The date and time for templates that write it into the prompt. Without it, templates
    /// that can do without write none or one of their own; the others fail.
    pub now: Option<DateTime>,
    /// Switches that only some templates know, as `enable_thinking`.
    pub variables: BTreeMap<String, serde_json::Value>,
}

/// The Jinja template with which a chat model publishes the form of its conversations.
///
/// A template is a program from a file, so what it may do is limited: its instructions, the work
/// and the memory of each, what it writes, and how deep its parts and its lists may lie in each
/// other. Where it reaches a limit, it ends with an error, the same each time. It needs less than
/// a megabyte of stack. It stands alone: `block`, `extends`, `include` and `import` are refused.
///
/// It is run in an environment like that of transformers: `raise_exception`, `strftime_now`,
/// a `tojson` that writes JSON as Python does, `break` and `continue`, the usual methods of
/// Python's strings, and `{% generation %}`, which has no effect here.
#[derive(Debug, Clone)]
pub struct ChatTemplate {
    source: String,
    origin: String,
}

impl ChatTemplate {
    /// A template. `origin` names it in errors. Whether it is one shows when it is first used,
    /// so that a model can write without it.
    pub fn new(source: impl Into<String>, origin: impl Into<String>) -> Self {
        Self { source: source.into(), origin: origin.into() }
    }

    /// The text of a conversation, up to where the assistant's answer begins.
    ///
    /// # Errors
    /// A template that is not valid, that refuses these messages, or that takes too much.
    pub fn render(
        &self,
        messages: &[Message],
        special_tokens: &SpecialTokens,
        options: &ChatOptions,
    ) -> Result<String> {
        let mut context: BTreeMap<&str, Value> = BTreeMap::new();
        context.extend(options.variables.iter().map(|(k, v)| (k.as_str(), Value::from(Serde(v)))));
        context.extend(special_tokens.iter().map(|(k, v)| (k.as_str(), Value::from(v))));
        context.insert("messages", Value::from(Serde(messages)));
        context.insert("add_generation_prompt", Value::from(true));
        // Templates compare these with `none`: not to be there would be something else.
        context.insert("tools", Value::from(()));
        context.insert("documents", Value::from(()));
        jinja::render(&self.source, context, options.now)
            .map_err(|message| Error::ChatTemplate { origin: self.origin.clone(), message })
    }
}
