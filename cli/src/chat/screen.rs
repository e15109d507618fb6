//! What a conversation shows: answers on standard output, and all else on standard error.

use std::borrow::Cow;
use std::io::{self, Write};

use indicatif::ProgressBar;
use slowburn::kernels::BLOCK;
use slowburn::tokenizer::AnswerPiece;
use slowburn_examples::cli::DIM;
use slowburn_flags::{Wrapper, terminal_width, wrap};

use super::error::{Error, Result};
use super::speaker::Speaker;
use crate::progress::{Watched, watched};

/// Shows answers and notes. Styles are left out where there is no terminal, or NO_COLOR is set.
pub(super) struct Screen {
    /// Whether thoughts are one line.
    folds: bool,
    shown: Shown,
    wrapper: Option<Wrapper>,
    /// Counts thoughts that are folded, in a terminal.
    spinner: Option<ProgressBar>,
}

/// Says something beside the answers.
pub(super) fn note(text: &str) {
    let text = terminal_width().map_or_else(|| text.to_owned(), |width| wrap(text, width));
    // There is nowhere to say that this failed.
    let _ = writeln!(anstream::stderr(), "{DIM}{text}{DIM:#}");
}

/// What of an answer was shown last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Nothing,
    Thought,
    Text,
}

impl Screen {
    pub(super) fn new(folds: bool) -> Self {
        Self { folds, shown: Shown::Nothing, wrapper: None, spinner: None }
    }

    /// Folds thoughts, or unfolds them. Whether they are folded then.
    pub(super) fn fold(&mut self) -> bool {
        self.folds = !self.folds;
        self.folds
    }

    /// An answer begins.
    pub(super) fn begin(&mut self) {
        self.shown = Shown::Nothing;
        // The terminal may be another size by now.
        self.wrapper = Wrapper::for_terminal();
    }

    /// Shows a piece of the answer.
    ///
    /// # Errors
    /// A closed standard output.
    pub(super) fn show(&mut self, piece: &AnswerPiece, thought_tokens: usize) -> Result<()> {
        match piece {
            AnswerPiece::Thought(_) if self.folds => {
                let spinner = self.spinner.get_or_insert_with(ProgressBar::new_spinner);
                spinner.set_message(format!("thinking: {thought_tokens} tokens"));
                spinner.tick();
                Ok(())
            }
            // Thoughts are no answer: a pipe does not get them.
            AnswerPiece::Thought(text) => {
                self.shown = Shown::Thought;
                let text = self.wrapped(text);
                write_thought(&text)
            }
            AnswerPiece::Call(_) | AnswerPiece::Arguments(_) => Ok(()),
            AnswerPiece::Text(text) => {
                let mut text = text.as_str();
                if self.shown != Shown::Text {
                    self.end_thought(thought_tokens)?;
                    // A model that continues a text begins with a space.
                    if self.wrapper.is_some() {
                        text = text.trim_start();
                    }
                }
                if text.is_empty() {
                    return Ok(());
                }
                self.shown = Shown::Text;
                let text = self.wrapped(text);
                write_text(&text)
            }
        }
    }

    fn wrapped<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        match &mut self.wrapper {
            None => Cow::Borrowed(text),
            Some(wrapper) => Cow::Owned(wrapper.push(text)),
        }
    }

    fn end_thought(&mut self, thought_tokens: usize) -> Result<()> {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
            note(&format!("thought for {thought_tokens} tokens"));
        } else if self.shown == Shown::Thought {
            let end = self.wrapped("\n\n");
            write_thought(&end)?;
        }
        Ok(())
    }

    /// The answer has ended.
    ///
    /// # Errors
    /// A closed standard output.
    pub(super) fn end(&mut self, thought_tokens: usize) -> Result<()> {
        if self.shown == Shown::Text {
            write_text("\n")
        } else {
            self.end_thought(thought_tokens)
        }
    }
}

fn write_thought(text: &str) -> Result<()> {
    let mut out = anstream::stderr().lock();
    let written = write!(out, "{DIM}{text}{DIM:#}").and_then(|()| out.flush());
    written.map_err(Error::Output)
}

fn write_text(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(Error::Output)
}

/// How far a long prompt was read, until the first token.
pub(super) struct Prefill<'a> {
    speaker: &'a Speaker,
    tokens: u64,
    /// The tokens that the model had computed before, and those it had found in the cache.
    before: (u64, u64),
}

impl<'a> Prefill<'a> {
    pub(super) fn of(speaker: &'a Speaker, tokens: usize) -> Self {
        let mut prefill = Self { speaker, tokens: tokens as u64, before: (0, 0) };
        prefill.before = prefill.computed();
        prefill
    }

    fn computed(&self) -> (u64, u64) {
        let load = self.speaker.load();
        load.map_or((0, 0), |load| {
            (load.engine.prefill_tokens, load.prefix_cache.hits * BLOCK as u64)
        })
    }

    /// Calls `work`, and shows how far the prompt is, until the bar is ended.
    pub(super) fn watch<T>(&self, work: impl FnOnce(&Watched) -> T) -> T {
        let done = || {
            let ((computed, cached), before) = (self.computed(), self.before);
            let found = cached.saturating_sub(before.1);
            (computed.saturating_sub(before.0), self.tokens.saturating_sub(found))
        };
        watched("reading {wide_bar} {pos} of {len} tokens", done, work)
    }
}
