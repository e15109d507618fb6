//! What a line says: a message, or a command.

use std::path::PathBuf;

use super::error::{Error, Result};

/// A line that was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Empty,
    Message(String),
    Command(Command),
}

/// A command to the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Help,
    Quit,
    /// Shows the system message.
    ShowSystem,
    /// Sets the system message, or with none, removes it.
    System(Option<String>),
    Clear,
    Undo,
    Retry,
    /// Shows the settings.
    ShowSettings,
    Set {
        name: String,
        value: String,
    },
    Save {
        path: PathBuf,
        replace: bool,
    },
    Load(PathBuf),
    Tokens,
    Think,
}

/// Each command, as it is typed, and what it does.
pub const COMMANDS: [(&str, &str); 12] = [
    ("/system TEXT", "set the system message; off removes it, and no TEXT shows it"),
    ("/retry", "answer the last message again"),
    ("/undo", "take the last message and its answer back"),
    ("/clear", "begin anew, with the same system message"),
    ("/set NAME VALUE", "change a setting: /set temperature 0.7; /set shows them all"),
    ("/tokens", "count the conversation's tokens, and those that still fit"),
    ("/think", "fold what a model thinks before it answers, or unfold it"),
    ("/save FILE", "write the messages into a file, as JSON"),
    ("/save! FILE", "the same, over a file that is there"),
    ("/load FILE", "go on with the messages of a file"),
    ("/help", "show this"),
    ("/quit", "end the program, as Ctrl-D does"),
];

impl Line {
    /// Reads a line. Two slashes begin a message with one.
    ///
    /// # Errors
    /// A command that there is not, or without what it needs.
    pub fn parse(line: &str) -> Result<Self> {
        let line = line.trim();
        if line.is_empty() {
            return Ok(Line::Empty);
        }
        let Some(command) = line.strip_prefix('/') else {
            return Ok(Line::Message(line.to_owned()));
        };
        if command.starts_with('/') {
            return Ok(Line::Message(command.to_owned()));
        }
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        Command::parse(name, rest.trim()).map(Line::Command)
    }
}

impl Command {
    fn parse(name: &str, rest: &str) -> Result<Self> {
        let path = |command| match rest {
            "" => Err(Error::Incomplete { command, example: "chat.json" }),
            path => Ok(PathBuf::from(path)),
        };
        Ok(match name {
            "help" => Command::Help,
            "quit" | "exit" => Command::Quit,
            "system" => match rest {
                "" => Command::ShowSystem,
                "off" => Command::System(None),
                text => Command::System(Some(text.to_owned())),
            },
            "clear" => Command::Clear,
            "undo" => Command::Undo,
            "retry" => Command::Retry,
            "set" if rest.is_empty() => Command::ShowSettings,
            "set" => {
                let parts = rest.split_once(['=', ' ']);
                let incomplete = Error::Incomplete { command: "/set", example: "temperature 0.7" };
                let (name, value) = parts.ok_or(incomplete)?;
                let value = value.trim().trim_start_matches('=').trim();
                Command::Set { name: name.to_owned(), value: value.to_owned() }
            }
            "save" => Command::Save { path: path("/save")?, replace: false },
            "save!" => Command::Save { path: path("/save!")?, replace: true },
            "load" => Command::Load(path("/load")?),
            "tokens" => Command::Tokens,
            "think" => Command::Think,
            _ => return Err(Error::NoCommand { name: format!("/{name}") }),
        })
    }
}
