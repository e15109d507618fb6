//! Text, bars and styles for a terminal.

use std::io::{self, IsTerminal, Write};

use anstyle::Style;
use serde_json::Value;
use slowburn::tokenizer::Tokenizer;
use slowburn_flags::{Wrapper, terminal_width, wrap};

use super::{Error, Result};

/// The style of highlights in a table.
pub const BOLD: Style = Style::new().bold();
/// The style of secondary information.
pub const DIM: Style = Style::new().dimmed();

/// Prints the JSON object if `as_json`, otherwise the text. Styles are omitted if standard output
/// is not a terminal or `NO_COLOR` is set.
///
/// # Errors
/// A closed standard output.
pub fn print(as_json: bool, json: &Value, text: &str) -> Result<()> {
    if as_json {
        write(&format!("{json}\n"))
    } else {
        write(text)
    }
}

/// The next line that somebody types, after this question, or of a pipe. None at its end.
///
/// # Errors
/// Standard input that cannot be read; a closed standard output.
pub fn ask(question: &str) -> Result<Option<String>> {
    if io::stdin().is_terminal() {
        write(question)?;
    }
    let mut line = String::new();
    let read = io::stdin().read_line(&mut line).map_err(Error::Input)?;
    Ok((read > 0).then(|| line.trim().to_owned()))
}

/// Writes to standard output, without styles if it is not a terminal.
///
/// # Errors
/// A closed standard output.
pub fn write(text: &str) -> Result<()> {
    let text = terminal_width().map_or_else(|| text.to_owned(), |width| wrap(text, width));
    let mut out = anstream::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(Error::Output)
}

/// Shows a text that comes in pieces. On a terminal its lines end after a word.
pub struct Stream(Option<Wrapper>);

impl Stream {
    /// For a text that begins on a line of its own.
    pub fn start() -> Self {
        Self(Wrapper::for_terminal())
    }

    /// Shows the next piece.
    ///
    /// # Errors
    /// A closed standard output.
    pub fn show(&mut self, piece: &str) -> Result<()> {
        let wrapped = self.0.as_mut().map(|wrapper| wrapper.push(piece));
        let mut out = io::stdout().lock();
        let written = out.write_all(wrapped.as_deref().unwrap_or(piece).as_bytes());
        written.and_then(|()| out.flush()).map_err(Error::Output)
    }
}

/// A bar of `share` times `width` characters, with a resolution of an eighth.
pub fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * (8 * width) as f64).round() as usize;
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

/// The quoted text of a token, which makes spaces visible, or the name of a special token.
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
