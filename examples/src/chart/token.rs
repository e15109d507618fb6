//! Tokens as labels, and as the names of ranks.

use plotters::style::text_anchor::{HPos, VPos};

use super::axis::Span;
use super::error::Result;
use super::figure::{Area, Text};
use super::plane::Frame;
use super::theme::MUTED;

/// The most characters between the quotes of a label.
const ROOM: usize = 14;
/// With up to this many ranks, there is room for the names of their tokens.
const NAMED: usize = 32;

/// The text of a token as a label, quoted and escaped as in Rust, so that ` the` differs from `the`
/// and line breaks are visible.
pub(super) fn label(token: &str) -> String {
    let mut shown = String::new();
    let mut cut = "";
    for character in token.chars() {
        let escaped = match character {
            // XML collapses spaces, but not no-break spaces.
            ' ' => "\u{a0}".to_owned(),
            '\'' => "'".to_owned(),
            other => other.escape_debug().to_string(),
        };
        if shown.chars().count() + escaped.chars().count() > ROOM {
            cut = "…";
            break;
        }
        shown += &escaped;
    }
    format!("\"{shown}\"{cut}")
}

/// The axis of so many ranks. Where there is room, they have names instead of ticks.
pub(super) fn ranks(count: usize) -> Span {
    let ranks = Span::ranks(count);
    if has_names(count) {
        ranks.without_ticks()
    } else {
        ranks
    }
}

pub(super) fn has_names(ranks: usize) -> bool {
    ranks <= NAMED
}

/// The height of the names of so many ranks, or of their ticks, in CSS pixels.
pub(super) fn names_height(ranks: usize) -> f64 {
    if has_names(ranks) { 92.0 } else { 20.0 }
}

/// Writes `tokens` below their ranks, where there is room.
pub(super) fn names<'a>(
    area: &Area<'_>,
    frame: Frame,
    tokens: impl ExactSizeIterator<Item = &'a str>,
) -> Result<()> {
    if !has_names(tokens.len()) {
        return Ok(());
    }
    let pitch = frame.width / tokens.len() as f64;
    let text = Text::new(pitch.clamp(9.0, 14.0)).color(MUTED).upwards();
    for (n, token) in tokens.enumerate() {
        let at = (frame.left + (n as f64 + 0.5) * pitch, frame.top + frame.height + 7.0);
        text.anchor(HPos::Right, VPos::Center).draw(area, at, &label(token))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        assert_eq!(label(" the"), "\"\u{a0}the\"");
        assert_eq!(label("\n"), r#""\n""#);
        assert_eq!(label("\""), r#""\"""#);
        assert_eq!(label("\0"), r#""\0""#);
        assert_eq!(label("  "), "\"\u{a0}\u{a0}\"");
        assert_eq!(label("'s"), "\"'s\"");
    }

    #[test]
    fn a_long_token_is_cut() {
        assert_eq!(label("antidisestablishment"), "\"antidisestabli\"…");
        assert_eq!(label(&"\u{feff}".repeat(9)), r#""\u{feff}"…"#);
    }
}
