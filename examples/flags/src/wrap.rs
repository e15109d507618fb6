//! Lines that end after a word, where a terminal would break them within one.

use std::env;
use std::io::{self, IsTerminal};

use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

/// The width of all tables. Most terminals have 80 columns, and what ends in the last of them would
/// be followed by an empty line on some.
pub const WIDTH: usize = 79;

/// The columns of the terminal that standard output is, without the last. None for a file or a pipe.
pub fn terminal_width() -> Option<usize> {
    width_if(io::stdout().is_terminal())
}

pub(super) fn width_if(is_terminal: bool) -> Option<usize> {
    let (width, _) = is_terminal.then(terminal_size::terminal_size)??;
    Some(usize::from(width.0).saturating_sub(1).max(1))
}

/// Wraps the lines of a text that are wider than `width`. Those of tables stay as they are.
pub fn wrap(text: &str, width: usize) -> String {
    let wrapped = |line: &str| {
        if display_width(line) <= width || is_row(line) {
            return line.to_owned();
        }
        let indent = " ".repeat(label(line));
        let options = Options::new(width)
            .break_words(false)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .subsequent_indent(&indent);
        textwrap::fill(line, options)
    };
    text.split('\n').map(wrapped).collect::<Vec<_>>().join("\n")
}

/// Whether a line has columns.
fn is_row(line: &str) -> bool {
    line.starts_with('|') || line.trim().split("  ").filter(|cell| !cell.is_empty()).count() > 2
}

/// The width of what stands before the text of a line: spaces, or a short label such as a number.
fn label(line: &str) -> usize {
    let spaces = line.len() - line.trim_start().len();
    match line.trim_start().split_once("  ") {
        Some((label, _)) if spaces + label.len() < 8 => spaces + label.len() + 2,
        _ => spaces,
    }
}

/// Wraps a text that comes in pieces, each of which is shown at once.
#[derive(Debug)]
pub struct Wrapper {
    width: usize,
    column: usize,
    /// The word that has begun on this line.
    word: String,
}

impl Wrapper {
    /// For the terminal that standard output is. None if it is no terminal, or moves no cursor.
    pub fn for_terminal() -> Option<Self> {
        let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        terminal_width().filter(|_| !is_dumb).map(Self::new)
    }

    /// For lines of `width` columns.
    pub fn new(width: usize) -> Self {
        Self { width, column: 0, word: String::new() }
    }

    /// What shows one more piece. A word that turns out to be too long for its line is erased
    /// there, and begins the next one.
    pub fn push(&mut self, piece: &str) -> String {
        let mut shown = String::with_capacity(piece.len());
        for c in piece.chars() {
            let width = display_width(c.encode_utf8(&mut [0; 4]));
            if c == '\n' {
                self.begin_line();
            } else if c == ' ' {
                self.word.clear();
                // A space that ends a line is not seen.
                if self.column == self.width {
                    continue;
                }
                self.column += 1;
            } else {
                if self.column + width > self.width {
                    self.wrap(&mut shown);
                }
                self.word.push(c);
                self.column += width;
            }
            shown.push(c);
        }
        shown
    }

    fn wrap(&mut self, shown: &mut String) {
        let begun = display_width(&self.word);
        // A word that is as long as a line is broken.
        if begun == self.column {
            self.begin_line();
            shown.push('\n');
            return;
        }
        if begun > 0 {
            // Cursor back, then clear to the end of the line.
            *shown += &format!("\x1b[{begun}D\x1b[K");
        }
        *shown += "\n";
        *shown += &self.word;
        self.column = begun;
    }

    fn begin_line(&mut self) {
        self.column = 0;
        self.word.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is on a screen after this was written.
    fn screen(written: &str) -> Vec<String> {
        let mut lines = vec![String::new()];
        let mut rest = written;
        while let Some(c) = rest.chars().next() {
            rest = &rest[c.len_utf8()..];
            let line = lines.last_mut().unwrap();
            match c {
                '\n' => lines.push(String::new()),
                '\x1b' => {
                    let (back, after) = rest[1..].split_once("D\x1b[K").unwrap();
                    (0..back.parse().unwrap()).for_each(|_| _ = line.pop());
                    rest = after;
                }
                _ => line.push(c),
            }
        }
        lines.iter().map(|line| line.trim_end().to_owned()).collect()
    }

    fn streamed(text: &str, piece: usize, width: usize) -> Vec<String> {
        let mut wrapper = Wrapper::new(width);
        let letters: Vec<char> = text.chars().collect();
        let pieces = letters.chunks(piece).map(|piece| piece.iter().collect::<String>());
        screen(&pieces.map(|piece| wrapper.push(&piece)).collect::<String>())
    }

    #[test]
    fn a_word_that_does_not_fit_begins_the_next_line() {
        let text = "a round frog\nwas called Samuelson";
        for piece in 1..=text.len() {
            assert_eq!(
                streamed(text, piece, 8),
                ["a round", "frog", "was", "called", "Samuelso", "n"]
            );
        }
    }

    #[test]
    fn rows_of_tables_stay_whole_and_labels_stay_outside() {
        let row = "a      1      2";
        assert_eq!(wrap(row, 10), row);
        assert_eq!(wrap("1  one two three", 10), "1  one two\n   three");
        assert_eq!(wrap("  one two three", 10), "  one two\n  three");
        assert_eq!(wrap("one two three\n\nfour", 9), "one two\nthree\n\nfour");
    }

    proptest! {
        /// What is streamed ends as what is wrapped as a whole, with words that fit a line.
        #[test]
        fn a_stream_is_wrapped_as_a_text(
            words in prop::collection::vec("[a-zé,.]{1,9}", 1..60), piece in 1..9_usize, width in 9..40_usize,
        ) {
            let text = words.join(" ");
            let whole = wrap(&text, width);
            prop_assert_eq!(streamed(&text, piece, width), whole.lines().collect::<Vec<_>>());
        }
    }
}
