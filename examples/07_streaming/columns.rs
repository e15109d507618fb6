//! Texts that grow side by side on a terminal.

use std::env;
use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};

use slowburn::inference::{Job, TokenOutput};

use slowburn_flags::{WIDTH, terminal_width};

use slowburn_examples::cli::{Error, Result};

const GAP: usize = 3;

/// Texts in columns. A terminal with cursor control shows them as they grow, other outputs once at
/// the end.
pub struct Columns {
    texts: Vec<String>,
    shown: bool,
    live: bool,
    /// That of all columns with their gaps. A line that wraps would take two rows, and the cursor would
    /// not go up far enough.
    width: usize,
    /// The number of lines on the screen.
    lines: usize,
}

impl Columns {
    /// `n` empty columns, printed only if `shown`.
    pub fn new(n: usize, shown: bool) -> Self {
        Self {
            texts: vec![String::new(); n],
            shown,
            live: shown
                && io::stdout().is_terminal()
                && moves_cursor(env::var_os("TERM").as_deref()),
            width: terminal_width().map_or(WIDTH, |width| width.min(WIDTH)),
            lines: 0,
        }
    }

    /// Reads a token of each job in turn until all have ended, and shows each job's text in its
    /// column. Returns the tokens of each job.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn read(mut self, jobs: &[Job<TokenOutput>]) -> Result<Vec<Vec<TokenOutput>>> {
        let mut tokens = vec![Vec::new(); jobs.len()];
        let mut open = true;
        while open {
            open = false;
            for (column, job) in jobs.iter().enumerate() {
                if let Some(token) = job.stream.iter().next() {
                    self.texts[column].push_str(&token.token);
                    tokens[column].push(token);
                    open = true;
                }
            }
            if self.live {
                self.draw()?;
            }
        }
        if self.shown && !self.live {
            self.draw()?;
        }
        Ok(tokens)
    }

    fn draw(&mut self) -> Result<()> {
        let lines = side_by_side(&self.texts, self.width);
        let mut out = io::stdout().lock();
        let written = (|| {
            if self.lines > 0 {
                // Cursor up to the first line, then clear to the end of the screen.
                write!(out, "\x1b[{}A\x1b[J", self.lines)?;
            }
            lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
            out.flush()
        })();
        self.lines = lines.len();
        written.map_err(Error::Output)
    }
}

/// Whether a terminal of type `term` supports cursor control. Without a type, a Unix terminal does
/// not; Windows terminals have no type.
fn moves_cursor(term: Option<&OsStr>) -> bool {
    term.map_or(cfg!(windows), |term| term != "dumb")
}

/// The lines of a table with one column for each text.
fn side_by_side(texts: &[String], width: usize) -> Vec<String> {
    let n = texts.len().max(1);
    let column = (width.saturating_sub(GAP * (n - 1)) / n).max(1);
    let columns: Vec<Vec<String>> = texts.iter().map(|text| fold(text, column)).collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |lines: &Vec<String>, row: usize| {
        let line = lines.get(row).map_or("", String::as_str);
        format!("{line:column$}")
    };
    let line = |row| {
        let cells: Vec<String> = columns.iter().map(|lines| cell(lines, row)).collect();
        cells.join(&" ".repeat(GAP)).trim_end().to_owned()
    };
    (0..height).map(line).collect()
}

/// Wraps a text to lines of at most `width` characters, between words if possible.
fn fold(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let letters: Vec<char> = word.chars().collect();
            for piece in letters.chunks(width) {
                let length = line.chars().count();
                if length > 0 && length + 1 + piece.len() > width {
                    lines.push(std::mem::take(&mut line));
                }
                if !line.is_empty() {
                    line.push(' ');
                }
                line.extend(piece);
            }
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole_where_they_fit() {
        assert_eq!(
            fold("a round frog\ncalled Samuelson", 6),
            ["a", "round", "frog", "called", "Samuel", "son"]
        );
        assert_eq!(fold("a frog", 6), ["a frog"]);
        assert!(fold("", 6).is_empty());
    }

    #[test]
    fn a_dumb_terminal_is_not_asked_to_move_its_cursor() {
        assert!(moves_cursor(Some(OsStr::new("xterm-256color"))));
        assert!(!moves_cursor(Some(OsStr::new("dumb"))));
        assert_eq!(moves_cursor(None), cfg!(windows));
    }

    #[test]
    fn columns_are_as_high_as_the_highest() {
        let texts = ["one two three".to_owned(), "four".to_owned()];
        assert_eq!(side_by_side(&texts, 13), ["one     four", "two", "three"]);
        assert_eq!(side_by_side(&[String::new()], 13), Vec::<String>::new());
    }
}
