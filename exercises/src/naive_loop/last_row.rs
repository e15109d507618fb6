//! The logits of the next token.

/// The model scores a next token after every position of the text, but during generation you need
/// only the scores after the last one.
///
/// `logits` is a tensor `[1, seq, vocab]` as it lies in memory: `seq` rows of `vocab` numbers, one
/// row after the other. Row `i` scores the token that follows position `i`. Return the last row,
/// `[vocab]`.
///
/// - `vocab` is at least 1, and `logits` holds only whole rows.
/// - A prompt of no tokens has no last position: then `logits` is empty, and the result is `None`.
///
/// ```text
/// last_row(&[0.1, 0.2, 0.3,   1.1, 1.2, 1.3], 3)  -> Some([1.1, 1.2, 1.3])
/// last_row(&[0.1, 0.2, 0.3], 3)                   -> Some([0.1, 0.2, 0.3])
/// last_row(&[], 3)                                -> None
/// ```
pub fn last_row(logits: &[f32], vocab: usize) -> Option<&[f32]> {
    todo!()
}
