//! A token may end inside a character: what counts is whether an allowed one can still come of it.
//!
//! Why: tokens are bytes. In many vocabularies a rare character has no token, and is written by two
//! or three that are no text by themselves. If only whole characters were allowed, it could never
//! be written. If any beginning were allowed, the text might get stuck in a forbidden character.
//!
//! What it costs: here, a look at all allowed characters. An automaton over bytes has the same
//! answer in its states, some of which lie inside a character.
//!
//! A common wrong turn: `from_utf8_lossy`, which turns a beginning into U+FFFD.

use std::ops::RangeInclusive;

/// Whether a token may come next in a text of which every character has to be in `allowed`.
pub fn partial_character(pending: &[u8], token: &[u8], allowed: &RangeInclusive<char>) -> bool {
    let bytes = [pending, token].concat();
    let whole = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        // A character is cut off at the end.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let rest = &bytes[whole.len()..];
    let begins = |c: char| c.encode_utf8(&mut [0; 4]).as_bytes().starts_with(rest);
    whole.chars().all(|c| allowed.contains(&c)) && (rest.is_empty() || allowed.clone().any(begins))
}
