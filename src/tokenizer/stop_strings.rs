//! Stop strings: texts that end the generation.

use std::cmp::Reverse;
use std::ops::Range;

use crate::error::{RequestError, Result};

/// The maximum number of stop strings. The text held back is searched for each, after every token.
pub const MAX_STOP_STRINGS: usize = 64;

/// The maximum length of a stop string in bytes, which bounds the text held back.
pub const MAX_STOP_LENGTH: usize = 256;

/// The stop strings of one generation. Matching is on text rather than tokens, because a stop
/// string may begin and end within tokens.
#[derive(Debug, Clone, Default)]
pub struct StopStrings {
    strings: Vec<String>,
}

/// A stop string in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopMatch<'a> {
    /// The stop string that matched.
    pub string: &'a str,
    /// The byte range of the match.
    pub range: Range<usize>,
}

impl StopStrings {
    /// Ignores empty strings, which would match everywhere.
    pub fn new(strings: &[String]) -> Self {
        let strings = strings.iter().filter(|string| !string.is_empty());
        Self { strings: strings.cloned().collect() }
    }

    /// Checks that there are at most [`MAX_STOP_STRINGS`], each of 1 to [`MAX_STOP_LENGTH`] bytes.
    ///
    /// # Errors
    /// [`RequestError::Parameter`] with the name `stop`.
    pub fn validate(strings: &[String]) -> Result<()> {
        let refuse =
            |value, allowed| Err(RequestError::Parameter { name: "stop", value, allowed }.into());
        if strings.len() > MAX_STOP_STRINGS {
            return refuse(format!("{} texts", strings.len()), "at most 64 texts");
        }
        if strings.iter().any(String::is_empty) {
            return refuse("an empty text".to_owned(), "texts of at least one character");
        }
        match strings.iter().find(|string| string.len() > MAX_STOP_LENGTH) {
            None => Ok(()),
            Some(long) => {
                refuse(format!("a text of {} bytes", long.len()), "texts of at most 256 bytes")
            }
        }
    }

    /// The match in `text` that ends first; of several that end at the same place, the longest.
    pub fn find(&self, text: &str) -> Option<StopMatch<'_>> {
        let first = |string| {
            let start = text.find(string)?;
            Some(StopMatch { string, range: start..start + string.len() })
        };
        let found = self.strings.iter().filter_map(|string| first(string));
        found.min_by_key(|found| (found.range.end, Reverse(found.string.len())))
    }

    // ANCHOR: undecided
    /// The number of bytes at the end of `text` that may begin a stop string, and so must be held
    /// back.
    pub fn undecided(&self, text: &str) -> usize {
        let beginning = |string: &String| {
            let lengths = (1..string.len()).rev().filter(|&n| string.is_char_boundary(n));
            lengths.into_iter().find(|&n| text.ends_with(&string[..n]))
        };
        self.strings.iter().filter_map(beginning).max().unwrap_or(0)
    }
    // ANCHOR_END: undecided
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The text up to the first stop string, fed piece by piece.
    fn stream(stops: &StopStrings, pieces: &[String]) -> (String, Option<String>) {
        let (mut out, mut held) = (String::new(), String::new());
        for piece in pieces {
            held.push_str(piece);
            if let Some(found) = stops.find(&held) {
                out.push_str(&held[..found.range.start]);
                return (out, Some(found.string.to_owned()));
            }
            let rest = held.split_off(held.len() - stops.undecided(&held));
            out.push_str(&held);
            held = rest;
        }
        (out + &held, None)
    }

    fn stops(strings: &[&str]) -> StopStrings {
        StopStrings::new(&strings.iter().map(|&string| string.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_one_that_is_complete_first_is_found() {
        let found = |strings: &[&str], text| {
            stops(strings).find(text).map(|found| (found.string.to_owned(), found.range))
        };
        assert_eq!(found(&["cd", "bcde"], "abcde"), Some(("cd".to_owned(), 2..4)));
        assert_eq!(found(&["d", "bcd", "cd"], "abcd"), Some(("bcd".to_owned(), 1..4)));
        assert_eq!(found(&["x", ""], "abcd"), None);
    }

    #[test]
    fn what_may_become_one_is_undecided() {
        let undecided = |strings: &[&str], text| stops(strings).undecided(text);
        assert_eq!(undecided(&["\n\n", "End."], "The En"), 2);
        assert_eq!(undecided(&["\n\n"], "line\n"), 1);
        assert_eq!(undecided(&["aab"], "aaaa"), 2);
        assert_eq!(undecided(&["é!"], "caf\u{e9}"), 2);
        assert_eq!(undecided(&["ab"], "cd"), 0);
        assert_eq!(undecided(&[], "cd"), 0);
    }

    #[test]
    fn their_number_and_length_are_limited() {
        let refused = |strings: &[String]| StopStrings::validate(strings).unwrap_err().to_string();
        let some = |n| vec!["x".to_owned(); n];
        StopStrings::validate(&some(MAX_STOP_STRINGS)).unwrap();
        StopStrings::validate(&["x".repeat(MAX_STOP_LENGTH)]).unwrap();
        assert_eq!(refused(&some(65)), "stop is 65 texts, but must be at most 64 texts");
        let long = refused(&["x".repeat(257)]);
        assert_eq!(long, "stop is a text of 257 bytes, but must be texts of at most 256 bytes");
        assert!(refused(&[String::new()]).contains("at least one character"));
    }

    proptest! {
        #[test]
        fn wherever_a_text_is_cut_it_stops_at_the_same_place(
            pieces in prop::collection::vec("[ab\u{e9}]{0,4}", 0..12),
            strings in prop::collection::vec("[ab\u{e9}]{1,5}", 0..4),
        ) {
            let stops = StopStrings::new(&strings);
            let whole = pieces.concat();
            let letters: Vec<String> = whole.chars().map(String::from).collect();
            let at_once = stream(&stops, &[whole]);
            prop_assert_eq!(&stream(&stops, &pieces), &at_once);
            prop_assert_eq!(&stream(&stops, &letters), &at_once);
        }
    }
}
