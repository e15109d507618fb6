//! Lines: from a terminal, with editing and a history, or from a pipe.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};

use super::command::COMMANDS;
use super::error::{Error, Result};

/// The most lines of the history.
const HISTORY: usize = 1000;

/// Where lines come from.
pub(super) enum Input {
    Terminal {
        editor: Box<Editor<Commands, FileHistory>>,
        history: Option<PathBuf>,
    },
    Pipe,
}

/// What was read.
pub(super) enum Read {
    Line(String),
    /// Ctrl-C, at the prompt.
    Interrupted,
    /// Ctrl-D, or the end of the pipe.
    End,
}

impl Input {
    /// Lines of the terminal, if standard input and output are one, and otherwise those of standard
    /// input. Without `keeps_history` there is only what was typed in this conversation.
    ///
    /// # Errors
    /// A terminal that cannot be used.
    pub(super) fn open(keeps_history: bool) -> Result<Self> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return Ok(Input::Pipe);
        }
        let config = Config::builder().history_ignore_space(true).max_history_size(HISTORY);
        let config = config.map_err(wrong)?.build();
        let mut editor = Box::new(Editor::with_config(config).map_err(wrong)?);
        editor.set_helper(Some(Commands));
        let history = keeps_history.then(history_file).flatten();
        if let Some(path) = &history {
            // The first time there is none.
            let _ = editor.load_history(path);
        }
        Ok(Input::Terminal { editor, history })
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Input::Terminal { .. })
    }

    /// The next line. In a terminal, a backslash at its end joins the next one to it.
    ///
    /// # Errors
    /// A terminal or a pipe that cannot be read.
    pub(super) fn read(&mut self) -> Result<Read> {
        let Input::Terminal { editor, history } = self else {
            let mut line = String::new();
            let read = io::stdin().read_line(&mut line).map_err(Error::Input)?;
            return Ok(if read == 0 {
                Read::End
            } else {
                Read::Line(line)
            });
        };
        match editor.readline("> ") {
            Ok(line) => {
                let _ = editor.add_history_entry(&line);
                if let Some(path) = history {
                    // A history that cannot be written ends no conversation.
                    let _ = editor.append_history(path);
                }
                Ok(Read::Line(line.replace("\\\n", "\n")))
            }
            Err(ReadlineError::Interrupted) => Ok(Read::Interrupted),
            Err(ReadlineError::Eof) => Ok(Read::End),
            Err(error) => Err(wrong(error)),
        }
    }
}

fn wrong(error: ReadlineError) -> Error {
    match error {
        ReadlineError::Io(error) => Error::Input(error),
        error => Error::Input(io::Error::other(error)),
    }
}

/// The file of the history, in the folder for the data of this user's programs.
fn history_file() -> Option<PathBuf> {
    let folder = dirs::data_dir()?.join("slowburn");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("chat-history"))
}

/// Completes commands, and joins lines.
pub(super) struct Commands;

impl Completer for Commands {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let begun = line.get(..cursor).unwrap_or_default();
        let names = COMMANDS.iter().filter_map(|(usage, _)| usage.split(' ').next());
        let fitting = names.filter(|name| begun.starts_with('/') && name.starts_with(begun));
        Ok((0, fitting.map(str::to_owned).collect()))
    }
}

impl Validator for Commands {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if context.input().ends_with('\\') {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Hinter for Commands {
    type Hint = String;
}

impl Highlighter for Commands {}

impl Helper for Commands {}
