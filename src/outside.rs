//! Other people's text in one-line error messages: names in files, responses of servers, messages of
//! other crates. You can't trust it: it may be long, have several lines, or contain terminal control sequences.

#[cfg(test)]
#[path = "../tests/common/foreign_words.rs"]
pub(crate) mod foreign_words;
mod json;

use std::fmt::{Debug, Display, Write};

pub use json::{expected_in_words, is_too_large, json_in_words};

/// The most characters of one such text in an error.
pub(crate) const LONGEST: usize = 240;

/// How many of these are from the end of a long text, where parsers report line and column.
const TAIL: usize = 60;

/// A text on one line: control characters are escaped, and the middle is omitted beyond 240
/// characters.
pub fn short(text: impl Display) -> String {
    let text = text.to_string();
    let mut escaped = text.chars().flat_map(escape);
    let start: Vec<char> = escaped.by_ref().take(LONGEST).collect();
    if escaped.next().is_none() {
        return start.into_iter().collect();
    }
    let head = start.into_iter().take(LONGEST - TAIL - 1);
    head.chain(['…']).chain(last_escaped(&text, TAIL)).collect()
}

/// As [`short`], for quoted text, such as a path.
pub fn quoted(text: impl Debug) -> String {
    let mut quoted = String::new();
    // Writing to a `String` cannot fail.
    let _ = write!(quoted, "{text:?}");
    short(quoted)
}

/// What the standard library says of bytes that are no text.
const NO_TEXT: [&str; 3] = [
    "stream did not contain valid UTF-8",
    "invalid utf-8 sequence",
    "incomplete utf-8 byte sequence",
];

/// As [`short`], for what the system says of a failure: without the numbers that it has for failures,
/// such as "(os error 20)".
pub fn in_words(failure: impl Display) -> String {
    let text = failure.to_string();
    if NO_TEXT.iter().any(|said| text.starts_with(said)) {
        return "it is no text in UTF-8: save it as such".to_owned();
    }
    let mut parts = text.split(" (os error ");
    let first = parts.next().unwrap_or_default().to_owned();
    let words = parts.fold(first, |words, part| {
        let rest = part.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit());
        match rest.strip_prefix(')') {
            Some(rest) if rest.len() + 1 < part.len() => words + rest,
            _ => words + " (os error " + part,
        }
    });
    short(words)
}

/// The last `count` characters of an escaped text.
fn last_escaped(text: &str, count: usize) -> Vec<char> {
    let mut tail = Vec::new();
    for c in text.chars().rev() {
        let escaped: Vec<char> = escape(c).collect();
        if tail.len() + escaped.len() > count {
            break;
        }
        tail.extend(escaped.into_iter().rev());
    }
    tail.reverse();
    tail
}

fn escape(c: char) -> impl Iterator<Item = char> {
    let (hidden, shown) = if is_hidden(c) {
        (Some(c.escape_default()), None)
    } else {
        (None, Some(c))
    };
    hidden.into_iter().flatten().chain(shown)
}

/// Characters that break lines, control a terminal, or change the text direction.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
        || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Asserts that an error's message has at most 1500 characters and no unescaped control character.
#[cfg(test)]
pub(crate) fn assert_one_plain_line(error: &impl std::fmt::Display) {
    let message = error.to_string();
    let hidden = message.chars().find(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{202e}'));
    assert_eq!(hidden, None, "{message:?}");
    let length = message.chars().count();
    assert!(length <= 1500, "{length} characters: {message}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_short_and_plain_stays() {
        assert_eq!(short("a 'name', naïve 🍎"), "a 'name', naïve 🍎");
        assert_eq!(quoted("a\nb"), "\"a\\nb\"");
    }

    #[test]
    fn lines_and_controls_are_escaped() {
        assert_eq!(short("a\nb\u{1b}[31mc\u{202e}"), "a\\nb\\u{1b}[31mc\\u{202e}");
    }

    #[test]
    fn what_the_system_says_has_no_numbers() {
        let error = std::io::Error::from_raw_os_error(2);
        assert!(error.to_string().ends_with("(os error 2)"));
        for (text, words) in [
            (error.to_string(), "No such file or directory"),
            ("a (os error 1): b (os error -7)".to_owned(), "a: b"),
            ("a (os error ): b (os error x)".to_owned(), "a (os error ): b (os error x)"),
            ("a (os error 5".to_owned(), "a (os error 5"),
            (
                String::from_utf8(vec![b'a', 0xff]).unwrap_err().to_string(),
                "it is no text in UTF-8: save it as such",
            ),
            (
                String::from_utf8(vec![0xe2, 0x82]).unwrap_err().to_string(),
                "it is no text in UTF-8: save it as such",
            ),
            (
                std::io::read_to_string(&[0xff][..]).unwrap_err().to_string(),
                "it is no text in UTF-8: save it as such",
            ),
        ] {
            assert_eq!(in_words(text), words);
        }
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        let text = format!("begin{}at line 7 column 3", "x".repeat(50_000_000));
        let short = short(text);
        assert!(
            short.starts_with("beginxxx") && short.ends_with("xxxat line 7 column 3"),
            "{short}"
        );
        assert_eq!(short.chars().count(), LONGEST);
    }

    proptest! {
        #[test]
        fn any_text_becomes_a_part_of_one_line(text in any::<String>(), n in 1..200usize) {
            for text in [text.clone(), text.repeat(n)] {
                let short = short(&text);
                prop_assert!(!short.contains(is_hidden), "{short:?}");
                prop_assert!(short.chars().count() <= LONGEST);
                prop_assert!(text.contains(is_hidden) || text.chars().count() > LONGEST || short == text);
            }
        }
    }
}
