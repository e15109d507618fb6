//! Bug hunt: a text stops in the middle, and the model goes on.
//!
//! Why: `valid_up_to` says how much is whole, and only that may leave. `held.clear()` also threw
//! away the beginning of a character behind it. Its last byte then stood alone at the front, which
//! no byte after it can mend: `valid_up_to` stayed 0 for good. An apple in four tokens did not show
//! it, as nothing was whole until all was.
//!
//! What it costs: `drain` moves the few bytes behind to the front. There are at most three.
//!
//! A common wrong turn: to give nothing out unless all that is held is whole. No text is lost then,
//! but text that could be read waits for the next token, and where each token ends inside a
//! character it waits to the end.

/// Turns ids into text as they come: one piece for each id, which is what is whole by then and was
/// not given out before. It may be empty.
///
/// `vocab[id]` holds the bytes of a token, which may be none. The bytes of all `ids`, one after the
/// other, are UTF-8.
///
/// What was observed: stories in English are always right. So is an apple in four tokens, one for
/// each of its bytes:
///
/// ```text
/// bytes of the token    F0   9F   8D   8E   " pie"
/// piece                 ""   ""   ""   "🍎"  " pie"
/// ```
///
/// But in a story about a café the text ends at "caf", and nothing comes after that, although the
/// model writes on. In that vocabulary the word is cut into the tokens `" caf" C3`, `A9` and `"!"`:
///
/// ```text
///             first piece   second   third
/// expected    " caf"        "é"      "!"
/// observed    " caf"        ""       ""
/// ```
///
/// Find out why, and mend it.
pub fn swallowed_text(ids: &[u32], vocab: &[&[u8]]) -> Vec<String> {
    let mut held = Vec::new();
    ids.iter()
        .map(|&id| {
            held.extend_from_slice(vocab[id as usize]);
            take_whole(&mut held)
        })
        .collect()
}

/// Takes the text that is whole out of what is held back.
fn take_whole(held: &mut Vec<u8>) -> String {
    let whole = match std::str::from_utf8(held) {
        Ok(text) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    let text = String::from_utf8_lossy(&held[..whole]).into_owned();
    held.drain(..whole);
    text
}
