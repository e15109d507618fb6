//! The flags that make a prompt a message of a conversation.

use std::str::FromStr;

use clap::Args;
use slowburn::error::{Error, RequestError, Result};
use slowburn::tokenizer::{ChatOptions, Message, Role, Variable, check_variable};

/// Whether the prompt is a message, and what goes with it.
#[derive(Debug, Clone, Args)]
pub struct ChatArgs {
    /// Treat the prompt as a chat message, with the model's chat template
    #[arg(id = "chat", long = "chat", conflicts_with = "prompt_ids")]
    pub enabled: bool,

    /// The system message, before the prompt
    #[arg(long, value_name = "TEXT", requires = "chat")]
    pub system: Option<String>,

    /// An argument of the model's chat template: enable_thinking=false, or tools=[{"type": ...}]. Tools
    /// and documents are lists of JSON objects, in the form that the template expects
    #[arg(long = "chat-arg", value_name = "NAME=VALUE", requires = "chat")]
    pub arguments: Vec<ChatArgument>,
}

impl ChatArgs {
    /// The conversation, with `prompt` as the last message.
    pub fn messages(&self, prompt: &str) -> Vec<Message> {
        let system = self.system.iter().map(|text| Message::new(Role::System, text));
        system.chain([Message::new(Role::User, prompt)]).collect()
    }

    /// The options of the template.
    pub fn options(&self) -> ChatOptions {
        chat_options(&self.arguments)
    }
}

/// The options of a template with these arguments. Some templates write today's date.
pub fn chat_options(arguments: &[ChatArgument]) -> ChatOptions {
    let variables = arguments.iter().cloned();
    ChatOptions {
        now: Some(jiff::Zoned::now().datetime()),
        variables: variables.map(|argument| (argument.name, argument.value)).collect(),
        ..ChatOptions::default()
    }
}

/// A name, and a value that is parsed as JSON or else taken as a string.
#[derive(Debug, Clone)]
pub struct ChatArgument {
    name: String,
    value: Variable,
}

impl FromStr for ChatArgument {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Error::Request(RequestError::Parameter {
                name: "a chat argument",
                value: format!("`{text}`"),
                allowed: "of the form NAME=VALUE",
            })
        })?;
        let Ok(value) = value.parse();
        check_variable(name, &value)?;
        Ok(Self { name: name.to_owned(), value })
    }
}
