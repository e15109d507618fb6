//! How likely a token was, as a logarithm.
//!
//! Why: the logarithm of a fraction is a difference, and in the numerator the logarithm undoes the
//! exponential. What is left is the logit minus the logarithm of the sum. Subtracting the greatest
//! logit from all of them changes no probability, but it keeps `exp` from overflowing, and makes
//! the sum at least 1, so that its logarithm is an ordinary number.
//!
//! What it costs: as much as a softmax, without its divisions.
//!
//! A common wrong turn: the softmax first, and `ln` of its result. If the probability is smaller
//! than any f32, that is -inf, and one such token makes the sum over a whole text -inf.

/// The natural logarithm of the probability that the softmax of `logits`, `[vocab]`, gives to
/// `token`. At least one logit is finite, and none is NaN.
pub fn log_probability(logits: &[f32], token: usize) -> f32 {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - greatest).exp()).sum();
    (logits[token] - greatest) - sum.ln()
}
