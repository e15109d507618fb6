/// The most characters between the quotes of a label.
const ROOM: usize = 14;

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
