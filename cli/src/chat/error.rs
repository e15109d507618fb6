//! What can go wrong in a conversation. It goes on after each.

use std::io;
use std::path::PathBuf;

use slowburn::outside::{in_words, quoted, short};

use super::conversation::JsonError;

/// An error of a turn or a command. The conversation is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the library or of the model's flags.
    #[error(transparent)]
    Model(#[from] slowburn_flags::Error),

    #[error(
        "the conversation has {tokens} tokens with this message, and the context of this model ends at {context}: /undo takes the last turn back, /clear begins anew"
    )]
    ContextFull { tokens: usize, context: usize },

    #[error("there is no command {name}: /help lists them; a message that begins with a slash has two of them", name = short(.name))]
    NoCommand { name: String },

    #[error("{command} needs more: {command} {example}")]
    Incomplete {
        command: &'static str,
        example: &'static str,
    },

    #[error("there is no setting {name}: it must be one of {names}", name = short(.name))]
    NoSetting { name: String, names: String },

    #[error(
        "max_reasoning_tokens is for a model that thinks between two tokens, such as <think> and </think>, and this one has none: /set max_reasoning_tokens off"
    )]
    NoThoughts,

    #[error("there is nothing to take back: no question was asked")]
    NothingToUndo,

    #[error("there is nothing to answer again: no question was asked")]
    NothingToRetry,

    #[error("{path} is there already, and was not changed: /save! writes over it", path = quoted(.path))]
    Exists { path: PathBuf },

    #[error("cannot write {path}: {source}", path = quoted(.path), source = in_words(.source))]
    Write { path: PathBuf, source: io::Error },

    #[error("cannot read {path}: {source}", path = quoted(.path), source = in_words(.source))]
    Read { path: PathBuf, source: io::Error },

    #[error(
        "{path} is not a conversation, which is a list of messages such as {{\"role\": \"user\", \"content\": \"Hello\"}}: {problem}",
        path = quoted(.path), problem = short(.source)
    )]
    NotAConversation { path: PathBuf, source: JsonError },

    #[error("cannot read the next line: {reason}", reason = in_words(.0))]
    Input(io::Error),

    #[error("cannot write the output: {reason}", reason = in_words(.0))]
    Output(io::Error),
}

impl From<slowburn::Error> for Error {
    fn from(error: slowburn::Error) -> Self {
        Error::Model(error.into())
    }
}

/// `std::result::Result` with this module's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
