//! Lines that break between words, of a text that comes piece by piece.

use console::{Term, measure_text_width};

/// From here on, letters of scripts without spaces: a line may break behind each.
const WITHOUT_SPACES: char = '\u{2e80}';

/// Breaks lines at a width. The last word is held back until it is known where it ends.
#[derive(Debug, Clone)]
pub struct Wrap {
    width: usize,
    column: usize,
    word: String,
}

impl Wrap {
    /// At the width of the terminal that standard output is, or nowhere, if it is none.
    pub(super) fn of_terminal() -> Self {
        let size = Term::stdout().size_checked();
        Self::at(size.map_or(usize::MAX, |(_, columns)| columns.into()))
    }

    /// At this width.
    pub fn at(width: usize) -> Self {
        Self { width, column: 0, word: String::new() }
    }

    /// What to write, now that this has come.
    pub fn push(&mut self, text: &str) -> String {
        if self.width == usize::MAX {
            return text.to_owned();
        }
        let mut out = String::new();
        for c in text.chars() {
            if c == '\n' {
                self.settle(&mut out);
                out.push(c);
                self.column = 0;
            } else if c.is_whitespace() {
                self.settle(&mut out);
                // At the end of a line, the break stands for it.
                if self.column < self.width {
                    out.push(c);
                    self.column += 1;
                }
            } else {
                self.word.push(c);
                if c >= WITHOUT_SPACES {
                    self.settle(&mut out);
                }
            }
        }
        out
    }

    /// What was held back. The next line begins.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        self.settle(&mut out);
        self.column = 0;
        out
    }

    /// Writes the word, on the next line if it does not fit.
    fn settle(&mut self, out: &mut String) {
        let width = measure_text_width(&self.word);
        if self.column > 0 && self.column + width > self.width {
            out.push('\n');
            self.column = 0;
        }
        self.column += width;
        out.push_str(&self.word);
        self.word.clear();
    }
}
