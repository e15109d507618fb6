//! Colours and links. `anstream` takes them away where the output is no terminal, and where
//! `NO_COLOR` is set.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use anstyle::{AnsiColor, Reset, Style};
use exercises_runner::progress::line_of_todo;

pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const ATTENTION: Style = AnsiColor::Yellow.on_default();
pub const STRONG: Style = Style::new().bold();
pub const FAINT: Style = Style::new().dimmed();
pub const END: Reset = Reset;

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
