//! Colours and links. `anstream` takes them away where the output is no terminal, and where
//! `NO_COLOR` is set.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::path::Path;
use std::{env, fs};

use anstyle::{AnsiColor, Reset, Style};
use exercises_runner::progress::line_of_todo;
use terminal_size::{Width, terminal_size};
use textwrap::core::display_width;
use textwrap::{Options, WordSeparator, WordSplitter};

pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const ATTENTION: Style = AnsiColor::Yellow.on_default();
pub const STRONG: Style = Style::new().bold();
pub const FAINT: Style = Style::new().dimmed();
pub const END: Reset = Reset;

/// Prints lines that end after a word, where a terminal would break them within one.
macro_rules! say {
    () => { $crate::screen::print("") };
    ($($part:tt)*) => { $crate::screen::print(&$crate::screen::fitted(&format!($($part)*))) };
}
pub(crate) use say;

/// Prints a text and ends its line. Where nobody reads any more, as behind `head`, the program ends.
pub fn print(text: &str) {
    if writeln!(anstream::stdout(), "{text}").is_err() {
        std::process::exit(0);
    }
}

/// A text whose lines fit the terminal that standard output is. For a file or a pipe it stays as it is.
pub fn fitted(text: &str) -> String {
    let size = io::stdout().is_terminal().then(terminal_size).flatten();
    // What ends in the last column would be followed by an empty line on some terminals.
    size.map_or_else(
        || text.to_owned(),
        |(Width(width), _)| wrapped(text, usize::from(width).saturating_sub(1)),
    )
}

/// A line goes on below its last column, or below its indentation.
fn wrapped(text: &str, width: usize) -> String {
    let wrapped = |line: &str| {
        let before = line.rfind("  ").map_or("", |end| &line[..end + 2]);
        let indent = " ".repeat(display_width(before));
        let options = Options::new(width)
            .break_words(false)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .subsequent_indent(&indent);
        textwrap::fill(line, options)
    };
    text.split('\n').map(wrapped).collect::<Vec<_>>().join("\n")
}

/// A file of the project, from the folder where this runs, as editors and terminals open it on a
/// click. `line` counts from 1.
pub fn link(root: &Path, file: &Path, line: Option<usize>) -> String {
    let path = root.join(file);
    let here = env::current_dir().unwrap_or_default();
    let mut shown = path.strip_prefix(here).unwrap_or(&path).display().to_string();
    if let Some(line) = line {
        write!(shown, ":{line}").expect("a String takes all");
    }
    format!("\x1b]8;;file://{}\x1b\\{shown}\x1b]8;;\x1b\\", percent_encoded(&path))
}

/// The line where there is something to write: the first `todo!()`, or else the first function.
pub fn line_of_task(root: &Path, file: &Path) -> Option<usize> {
    let text = fs::read_to_string(root.join(file)).ok()?;
    let function = || text.lines().position(|line| line.trim_start().starts_with("pub fn "));
    line_of_todo(&text).or_else(function).map(|line| line + 1)
}

/// One cell for each exercise.
pub fn bar(done: usize, all: usize) -> String {
    format!("{GOOD}{}{END}{FAINT}{}{END}", "■".repeat(done), "□".repeat(all - done))
}

fn percent_encoded(path: &Path) -> String {
    let mut encoded = String::new();
    for byte in path.to_string_lossy().replace('\\', "/").bytes() {
        match byte {
            b'/' | b':' | b'-' | b'_' | b'.' | b'~' => encoded.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => encoded.push(byte.into()),
            _ => write!(encoded, "%{byte:02X}").expect("a String takes all"),
        }
    }
    if encoded.starts_with('/') {
        encoded
    } else {
        format!("/{encoded}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_after_a_word_and_colours_and_links_have_no_width() {
        assert_eq!(
            wrapped("one two three\n\n  four five six", 9),
            "one two\nthree\n\n  four\n  five\n  six"
        );
        assert_eq!(wrapped("  a  one two", 9), "  a  one\n     two");
        let shown = format!("{GOOD}✓{END} {}", link(Path::new("/a"), Path::new("b"), Some(3)));
        assert_eq!(wrapped(&shown, 8), shown);
    }
}
