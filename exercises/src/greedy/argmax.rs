//! The most likely token, and how far it is ahead.

/// Why no token can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// There are no logits.
    Empty,
    /// The logit at this place is not a number. Of several, it is the first.
    NotANumber(usize),
}

/// What greedy chooses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// The place of the greatest logit; of equals, the first.
    pub token: usize,
    /// By how much its logit is greater than that of every other token.
    pub lead: f32,
}

/// The greatest of `logits`, `[vocab]`, and its lead over the second.
///
/// A choice with a lead near 0 is a close one: a tiny difference in the arithmetic may turn it.
///
/// - The lead is the difference of the two logits, as an `f32` holds it. It is 0 where another token
///   has the same logit, also where both have -inf.
/// - It is infinity where no other token can come: all others have -inf, or there are none.
/// - Logits may all be below zero, and some may be -inf, or all of them. None is infinity.
/// - A damaged model may give NaN. Every comparison with NaN is false, so which token a search
///   finds would depend on where the NaN stands. Such logits are refused.
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
