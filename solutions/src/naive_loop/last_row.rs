//! The logits of the next token.
//!
//! Why: the numbers of the last position are the last `vocab` numbers. Counted from the end they
//! need no `seq`, so nothing can go below zero, and whether there is such a row is the same
//! question as whether there are `vocab` numbers.
//!
//! What it costs: nothing is copied. What was costly was to compute the other rows: a model that is
//! asked for the last one takes the last vector before the head.
//!
//! A common wrong turn: `seq - 1` for a `seq` of 0. On a `usize` that panics in a debug build, and
//! gives a number of 20 digits in a release build.

/// The logits of the last position, `[vocab]`, of `logits`, `[1, seq, vocab]`; `None` where there
/// is no position.
pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    let start = logits.len().checked_sub(vocab)?;
    Some(&logits[start..])
}
