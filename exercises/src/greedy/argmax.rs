//! The most likely token.

/// Why no token can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// There are no logits.
    Empty,
    /// The logit at this place is not a number. Of several, it is the first.
    NotANumber(usize),
}

/// The place of the greatest of `logits`, `[vocab]`; of equals, the first.
///
/// - Logits may all be below zero, and some may be -inf, or all of them.
/// - A damaged model may give NaN. Every comparison with NaN is false, so which token a search
///   finds would depend on where the NaN stands. Such logits are refused.
///
/// # Errors
/// No logits, or one that is NaN, wherever it stands.
///
/// ```text
/// argmax(&[2.0, 1.5, 1.0])             -> Ok(0)
/// argmax(&[-3.0, -1.0, -1.0])          -> Ok(1)
/// argmax(&[1.0, f32::NAN, 2.0])        -> Err(NotANumber(1))
/// argmax(&[])                          -> Err(Empty)
/// ```
pub fn argmax(logits: &[f32]) -> Result<usize, Unusable> {
    todo!()
}
