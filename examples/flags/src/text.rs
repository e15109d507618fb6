//! What all programs say in the same words.

use std::io::{self, IsTerminal, Write};

use super::wrap::{width_if, wrap};

/// Writes a text to standard error. A failure, such as a closed pipe, is ignored: there is nowhere
/// to report it, and the command itself may have succeeded.
pub fn note(text: &str) {
    let mut out = io::stderr();
    let text =
        width_if(out.is_terminal()).map_or_else(|| text.to_owned(), |width| wrap(text, width));
    let _ = out.write_all(text.as_bytes());
}

/// A memory size in a readable unit.
pub fn bytes(n: usize) -> String {
    match n {
        0 => "none".to_owned(),
        n if n < 1 << 20 => format!("{:.0} KiB", n as f64 / 1024.0),
        n if n < 1 << 30 => format!("{:.1} MiB", n as f64 / (1024.0 * 1024.0)),
        n => format!("{:.1} GiB", n as f64 / (1024.0 * 1024.0 * 1024.0)),
    }
}
