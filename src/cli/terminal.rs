//! Words, bars and colours on a terminal.

use std::io::{self, Write};

use anstyle::Style;
use serde_json::Value;

use super::{Error, Result};
use crate::tokenizer::Tokenizer;

/// What matters most in a table.
pub const BOLD: Style = Style::new().bold();
/// What matters less.
pub const DIM: Style = Style::new().dimmed();

/// Prints the object where `as_json` asks for it, and else the text. Its styles are left out
/// where standard output is no terminal or `NO_COLOR` is set.
///
/// # Errors
/// Standard output that is closed.
pub fn print(as_json: bool, json: &Value, text: &str) -> Result<()> {
    if as_json {
        write(&format!("{json}\n"))
    } else {
        write(text)
    }
}

/// Writes to standard output, without styles where nobody would see them.
pub(super) fn write(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(Error::Output)
}

/// Writes a text to standard error. Where that cannot be written, as into a pipe that nobody reads
/// any more, there is nobody to tell, and what was asked for may well have been done.
pub(super) fn note(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// A bar whose length is `share` of `width` characters, to an eighth of one.
pub fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (8 * width) as f64).round() as usize;
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

/// The text of one token in quotes, so that its spaces show; a special token by its name.
pub fn quoted(tokenizer: &Tokenizer, id: u32) -> String {
    match tokenizer.decode(&[id]) {
        Ok(text) if !text.is_empty() => format!("{text:?}"),
        _ => tokenizer.token(id).unwrap_or_else(|| format!("<{id}>")),
    }
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(0.0, 4), "");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(0.28125, 4), "█▏");
        assert_eq!(bar(7.0, 2), "██");
    }
}
