//! Chat messages and the template that formats them into a prompt.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::str::FromStr;

use jiff::civil::DateTime;
use minijinja::Value;
use minijinja::value::{Serde, ValueKind};
use serde::{Deserialize, Serialize, Serializer};

use super::config::{self, NamedTemplates, SpecialTokens};
use super::{forms, jinja};
use crate::error::{Error, RequestError, Result};

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions on how to answer.
    System,
    /// The same, in the newer models of OpenAI: see [`ChatTemplate::adapt`].
    Developer,
    /// The person who asks.
    User,
    /// The model.
    Assistant,
    /// A tool that the model has called.
    Tool,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// The author.
    pub role: Role,
    /// The text. None where an assistant has called tools and said nothing: a template sees `none`.
    pub content: Option<String>,
    /// The tools that the model has called in this message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// In a message of a tool: the [`id`](ToolCall::id) of the call that it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The name of the author, such as that of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What an assistant thought before it answered. Templates see it as `reasoning_content`, `thinking`
    /// and `reasoning`: each model has its own name for it.
    #[serde(flatten, serialize_with = "by_all_names")]
    pub reasoning: Option<String>,
}

/// The names under which templates look for a message's reasoning.
const REASONING: [&str; 3] = ["reasoning_content", "thinking", "reasoning"];

fn by_all_names<S: Serializer>(
    reasoning: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let text = reasoning.as_ref();
    serializer.collect_map(text.iter().flat_map(|text| REASONING.map(|name| (name, *text))))
}

impl Message {
    /// A message of the given role.
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: Some(content.into()),
            tool_calls: Vec::new(),
            tool_call_id: None,
            name: None,
            reasoning: None,
        }
    }
}

/// A call of a tool, in the form that templates expect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "function")]
pub struct ToolCall {
    /// By which the message of the tool names it.
    pub id: String,
    /// What is called.
    pub function: FunctionCall,
}

/// A function with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionCall {
    /// Its name.
    pub name: String,
    /// A JSON object, or the text of one: a template sees what is here, and [`ChatTemplate::adapt`]
    /// makes one of the other.
    pub arguments: serde_json::Value,
}

/// How a written conversation ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChatEnding {
    /// With the beginning of the assistant's answer: what `add_generation_prompt` asks for.
    #[default]
    Answer,
    /// With the last message, whole.
    Message,
    /// Inside the last message, so that the model goes on with it: `continue_final_message`.
    Continued,
}

/// Further inputs of a template, besides the messages.
#[derive(Debug, Clone, Default)]
pub struct ChatOptions {
    /// The date and time for templates that write it into the prompt. Without it, such templates
    /// omit the date, use a fixed one, or fail.
    pub now: Option<DateTime>,
    /// Template-specific variables, such as `enable_thinking`. `tools` and `documents` are lists of
    /// JSON objects, which reach the template as they are; `messages` and `add_generation_prompt`
    /// are not to be set here.
    pub variables: BTreeMap<String, Variable>,
    /// The template, if the model has several: one of [`ChatTemplate::names`]. None: that of
    /// conversations, or of those with tools.
    pub template: Option<String>,
    /// Whether the texts of special tokens within the messages are special tokens, as in
    /// transformers. Otherwise they are text, and only the template writes special tokens.
    pub parse_special: bool,
    /// How the conversation ends.
    pub ending: ChatEnding,
}

/// The value of a template's variable: JSON, in which the fields of an object keep their order, as a
/// template may write them.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct Variable(Value);

impl Variable {
    fn is_list_of_objects(&self) -> bool {
        let is_object = |item: Value| item.kind() == ValueKind::Map;
        self.0.kind() == ValueKind::Seq
            && self.0.try_iter().is_ok_and(|mut items| items.all(is_object))
    }
}

impl From<String> for Variable {
    fn from(text: String) -> Self {
        Self(Value::from(text))
    }
}

impl From<bool> for Variable {
    fn from(value: bool) -> Self {
        Self(Value::from(value))
    }
}

impl FromStr for Variable {
    type Err = Infallible;

    /// The JSON of a text, or the text itself if it is none.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let json = serde_json::from_str(text).map(Self);
        Ok(json.unwrap_or_else(|_| Self::from(text.to_owned())))
    }
}

/// Checks a template's variable, as transformers does. [`ChatTemplate::render`] checks all of them;
/// who reads one from a command line can refuse it there.
///
/// # Errors
/// A variable that the conversation decides; tools or documents that are no list of objects.
pub fn check_variable(name: &str, value: &Variable) -> Result<()> {
    let wrong = |name, value, allowed| Err(RequestError::Parameter { name, value, allowed }.into());
    match name {
        "messages" | "add_generation_prompt" => wrong(
            "the name of a template's variable",
            format!("`{name}`"),
            "another: the conversation decides this one",
        ),
        "tools" if !value.is_list_of_objects() => {
            wrong("the template's variable `tools`", value.0.to_string(), "a list of JSON objects")
        }
        "documents" if !value.is_list_of_objects() => wrong(
            "the template's variable `documents`",
            value.0.to_string(),
            "a list of JSON objects",
        ),
        _ => Ok(()),
    }
}

/// A Jinja chat template, as published with a chat model.
///
/// A template is an untrusted program, so its instructions, work, memory, output and nesting depth
/// are limited. A template that reaches a limit fails, at the same place each time. Rendering needs
/// less than a megabyte of stack. `block`, `extends`, `include` and `import` are refused.
///
/// The environment matches that of transformers: `raise_exception`, `strftime_now`, a `tojson` that
/// writes JSON as Python does, `break` and `continue`, the usual methods of Python's strings, and
/// `{% generation %}`, which has no effect here.
#[derive(Debug, Clone)]
pub struct ChatTemplate {
    /// The programs by their names.
    sources: NamedTemplates,
    origin: String,
}

impl ChatTemplate {
    /// Wraps a template. `origin` names it in errors. Syntax errors appear only on first use, so
    /// that a model with an invalid template can still generate.
    pub fn new(source: impl Into<String>, origin: impl Into<String>) -> Self {
        let sources = [(config::DEFAULT.to_owned(), source.into())].into();
        Self { sources, origin: origin.into() }
    }

    /// Several templates. None if there is none for any conversation.
    pub(super) fn of(sources: NamedTemplates, origin: &str) -> Option<Self> {
        let template = Self { sources, origin: origin.to_owned() };
        template.sources.contains_key(config::DEFAULT).then_some(template)
    }

    /// A template without any program yet.
    pub(super) fn nameless(origin: &str) -> Self {
        Self { sources: NamedTemplates::new(), origin: origin.to_owned() }
    }

    /// Adds a program, or replaces it. The one named `tool_use` is for conversations with tools.
    #[must_use]
    pub fn with_named(mut self, name: impl Into<String>, source: impl Into<String>) -> Self {
        self.sources.insert(name.into(), source.into());
        self
    }

    /// The names of the programs: `default`, and where a model has more, others such as `tool_use`
    /// and `rag`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.sources.keys().map(String::as_str)
    }

    /// The program, in Jinja.
    pub fn source(&self) -> &str {
        self.sources.get(config::DEFAULT).map_or("", String::as_str)
    }

    /// The program for conversations with tools: some models have two, by the names `default` and
    /// `tool_use`.
    pub fn tool_source(&self) -> &str {
        self.sources.get(config::TOOL_USE).map_or_else(|| self.source(), String::as_str)
    }

    /// The program that [`render`](Self::render) runs with these options.
    fn source_for(&self, options: &ChatOptions) -> Result<&str> {
        let has_tools = options.variables.contains_key("tools");
        let name = match &options.template {
            Some(name) => name.as_str(),
            None if has_tools && self.sources.contains_key(config::TOOL_USE) => config::TOOL_USE,
            None => config::DEFAULT,
        };
        let wrong = || RequestError::Parameter {
            name: "the chat template",
            value: format!("`{name}`"),
            allowed: "one of those that the model has",
        };
        Ok(self.sources.get(name).ok_or_else(wrong)?)
    }

    /// The messages as this template can take them:
    ///
    /// - For a template that does not know the role `developer`, that is `system` instead, as in
    ///   OpenAI's API, where each stands for the other. A template whose program for these options
    ///   names the role anywhere gets it as it is.
    /// - A template may read the arguments of a call as an object or as a text, and what is written of
    ///   the other is an error, a text in quotes within a text, or nothing. It may also write `None`
    ///   for a message without content. So a part of the conversation is rendered in each form on
    ///   trial, and the first is used in which nothing is lost: that of the messages, if it is one.
    ///
    /// [`render`](Self::render) gets messages as they are, as in transformers.
    pub fn adapt(
        &self,
        messages: &[Message],
        special_tokens: &SpecialTokens,
        options: &ChatOptions,
    ) -> Vec<Message> {
        let knows_developer =
            self.source_for(options).is_ok_and(|source| source.contains("developer"));
        let role = |message: &Message| match message.role {
            Role::Developer if !knows_developer => Role::System,
            role => role,
        };
        let messages: Vec<Message> = messages
            .iter()
            .map(|message| Message { role: role(message), ..message.clone() })
            .collect();
        // Whether a form loses nothing is seen in whole messages.
        let ending = match options.ending {
            ChatEnding::Continued => ChatEnding::Message,
            ending => ending,
        };
        let options = ChatOptions { ending, ..options.clone() };
        let render = |messages: &[Message]| self.render(messages, special_tokens, &options);
        forms::choose(messages, render)
    }

    /// Formats a conversation, up to where [`ChatOptions::ending`] says. Where the options have `tools`,
    /// even none of them, that is done by [`tool_source`](Self::tool_source), as in transformers.
    ///
    /// # Errors
    /// A template that is invalid, that refuses these messages, or that exceeds its limits; variables
    /// that it cannot be given; a last message that is to be continued, and that the template omits or
    /// changes.
    pub fn render(
        &self,
        messages: &[Message],
        special_tokens: &SpecialTokens,
        options: &ChatOptions,
    ) -> Result<String> {
        let mut context: BTreeMap<&str, Value> = BTreeMap::new();
        // Templates compare these with `none`; an undefined variable would compare differently.
        context.insert("tools", Value::from(()));
        context.insert("documents", Value::from(()));
        context.extend(special_tokens.iter().map(|(k, v)| (k.as_str(), Value::from(v))));
        for (name, value) in &options.variables {
            check_variable(name, value)?;
            context.insert(name, value.0.clone());
        }
        let wrong = |message| {
            Error::Request(RequestError::ChatTemplate { origin: self.origin.clone(), message })
        };
        let is_answer = options.ending == ChatEnding::Answer;
        context.insert("add_generation_prompt", Value::from(is_answer));
        let source = self.source_for(options)?;
        let render = |messages: &[Message]| {
            let mut context = context;
            context.insert("messages", Value::from(Serde(messages)));
            jinja::render(source, context, options.now)
        };
        match options.ending {
            ChatEnding::Answer | ChatEnding::Message => render(messages).map_err(wrong),
            ChatEnding::Continued => continued(messages, render).map_err(wrong),
        }
    }
}

/// Stands where the last message ends while a template writes it. The space shows whether the template
/// removes white space there.
const END: &str = "CONTINUE_FINAL_MESSAGE_TAG ";

/// A conversation up to the end of its last message's text, as transformers finds it.
fn continued(
    messages: &[Message],
    render: impl FnOnce(&[Message]) -> Result<String, String>,
) -> Result<String, String> {
    let mut messages = messages.to_vec();
    let Some(last) = messages.last_mut() else {
        return Err("there is no message to continue".to_owned());
    };
    // As in transformers: what is not there cannot be continued.
    let Some(content) = &mut last.content else {
        return Err("the last message has no text to continue".to_owned());
    };
    let text = content.clone();
    content.push_str(END);
    let mut written = render(&messages)?;
    let end = written.rfind(END.trim_end()).filter(|_| written.contains(text.trim()));
    let Some(end) = end else {
        let problem = "it omits or changes the last message, so that its text cannot be continued";
        return Err(problem.to_owned());
    };
    let keeps_space = written[end..].starts_with(END);
    written.truncate(end);
    if !keeps_space {
        written.truncate(written.trim_end().len());
    }
    Ok(written)
}
