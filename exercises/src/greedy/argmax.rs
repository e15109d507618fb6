//! The most likely token, and how far it is ahead.

/// Why no token can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// There are no logits.
    Empty,
    /// The logit at this index is not a number. Of several, it is the first.
    NotANumber(usize),
}

/// What greedy chooses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The index of the greatest logit; of equal ones, the first.
    pub token: usize,
    /// By how much its logit exceeds every other token's.
    pub lead: f32,
}

/// Greedy takes the token with the greatest logit. But was it a close choice? With a lead near 0, a
/// tiny difference in the arithmetic may turn it. So you return the greatest of `logits`,
/// `[vocab]`, and its lead over the second.
///
/// - The lead is the difference of the two logits, as an `f32` holds it. It is 0 if another token
///   has the same logit, even if both have -inf.
/// - The lead is infinite if no other token can come: all others have -inf, or there are none.
/// - Logits may all be below zero, and some may be -inf, or all of them. None is infinity.
/// - A damaged model may give NaN. Every comparison with NaN is false, so which token a search
///   finds would depend on where the NaN stands. You refuse such logits.
///
/// # Errors
/// No logits, or one that is NaN, wherever it stands.
///
/// ```text
/// argmax(&[2.0, 1.5, 1.0])             -> Ok(token 0, lead 0.5)
/// argmax(&[-3.0, -1.0, -1.0])          -> Ok(token 1, lead 0)
/// argmax(&[f32::NEG_INFINITY, 4.0])    -> Ok(token 1, lead infinity)
/// argmax(&[1.0, f32::NAN, 2.0])        -> Err(NotANumber(1))
/// argmax(&[])                          -> Err(Empty)
/// ```
pub fn argmax(logits: &[f32]) -> Result<Choice, Unusable> {
    todo!()
}
