//! Bug hunt: a text stops in the middle, and the model goes on.
//!
//! Why: `valid_up_to` counts the bytes of complete characters, and only these may leave. But
//! `held.clear()` also threw away the beginning of a character behind them. Its last byte then
//! stood alone at the front, and no later byte can repair that: `valid_up_to` stayed 0 for good.
//! Why did the apple in four tokens come out right? Because no character was complete until all of
//! it was.
//!
//! What it costs: `drain` moves the few bytes behind to the front. There are at most three.
//!
//! A common wrong turn: giving nothing out unless everything held is complete. No text is lost
//! then, but text that could be read waits for the next token, and if each token ends inside a
//! character, it waits to the end.

/// Turns ids into text as they come: one piece for each id, with everything that is complete by
/// then and was not returned before. A piece may be empty.
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
/// But in a story about a café the text stops at "caf", and nothing comes after it, although the
/// model writes on. This vocabulary cuts the word into the tokens `" caf" C3`, `A9` and `"!"`:
///
/// ```text
///             first piece   second   third
/// expected    " caf"        "é"      "!"
/// observed    " caf"        ""       ""
/// ```
///
/// Find out why, and fix it.
pub fn swallowed_text(ids: &[u32], vocab: &[&[u8]]) -> Vec<String> {
    let mut held = Vec::new();
    ids.iter()
        .map(|&id| {
            held.extend_from_slice(vocab[id as usize]);
            take_whole(&mut held)
        })
        .collect()
}

/// Takes the complete text out of the bytes that are held back.
fn take_whole(held: &mut Vec<u8>) -> String {
    let whole = match std::str::from_utf8(held) {
        Ok(text) => text.len(),
        Err(error) => error.valid_up_to(),
    };
    let text = String::from_utf8_lossy(&held[..whole]).into_owned();
    held.drain(..whole);
    text
}
