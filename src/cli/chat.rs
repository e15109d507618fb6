//! The flags that make a prompt a message of a conversation.

use std::str::FromStr;

use clap::Args;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::tokenizer::{ChatOptions, Message, Role};

/// Whether the prompt is a message, and what goes with it.
#[derive(Debug, Clone, Args)]
pub struct ChatArgs {
    /// Answer the prompt as a message, in the form that the model was trained for
    #[arg(id = "chat", long = "chat", conflicts_with = "prompt_ids")]
    pub enabled: bool,

    /// How to answer: a message that comes before the prompt
    #[arg(long, value_name = "TEXT", requires = "chat")]
    pub system: Option<String>,

    /// A switch of this model's chat template: enable_thinking=false
    #[arg(long = "chat-arg", value_name = "NAME=VALUE", requires = "chat")]
    pub arguments: Vec<ChatArgument>,
}

impl ChatArgs {
    /// The conversation, with `prompt` as the last message.
    pub fn messages(&self, prompt: &str) -> Vec<Message> {
        let system = self.system.iter().map(|text| Message::new(Role::System, text));
        system.chain([Message::new(Role::User, prompt)]).collect()
    }

    /// The options of the template. Some templates write today's date.
    pub fn options(&self) -> ChatOptions {
        let variables = self.arguments.iter().cloned();
        ChatOptions {
            now: Some(jiff::Zoned::now().datetime()),
            variables: variables.map(|argument| (argument.name, argument.value)).collect(),
        }
    }
}

/// A name, and a value that is parsed as JSON or else taken as a string.
#[derive(Debug, Clone)]
pub struct ChatArgument {
    name: String,
    value: Value,
}

impl FromStr for ChatArgument {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, value) = text.split_once('=').ok_or_else(|| Error::Parameter {
            name: "a chat argument",
            value: format!("`{text}`"),
            allowed: "of the form NAME=VALUE",
        })?;
        let json = serde_json::from_str(value);
        Ok(Self {
            name: name.to_owned(),
            value: json.unwrap_or_else(|_| value.into()),
        })
    }
}
