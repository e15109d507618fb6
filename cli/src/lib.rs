//! The program `slowburn`: what the examples do, and a conversation, by one command with subcommands.
//!
//! Each subcommand calls the library of the examples ([`slowburn_examples::cli`]) or of the server. What
//! is only here: [`chat`], the list of models, and progress bars.

pub mod chat;
mod command_line;
mod merge;
mod models;
mod progress;

pub use command_line::{command, main};
