//! The logits of the next token.
//!
//! Why: the last position has the last `vocab` numbers. Counted from the end you don't need `seq`,
//! so nothing can go below zero, and asking for such a row is the same as asking for `vocab`
//! numbers.
//!
//! What it costs: nothing is copied. The expensive part was computing the other rows: a model that
//! is asked for the last one takes the last vector before the head.
//!
//! A common wrong turn: `seq - 1` for a `seq` of 0. On a `usize` that panics in a debug build, and
//! gives a number of 20 digits in a release build.

/// The logits of the last position, `[vocab]`, of `logits`, `[1, seq, vocab]`; `None` if there
/// is no position.
pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    let start = logits.len().checked_sub(vocab)?;
    Some(&logits[start..])
}
