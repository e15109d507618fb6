//! A softmax that does not overflow.
//!
//! Why: `exp` of more than 88.7 is infinite in an `f32`, and infinity divided by infinity is NaN.
//! Subtracting the greatest score divides every `exp` and their sum by the same number, so no
//! probability changes. The greatest term is then `exp(0) = 1`: nothing overflows, and the sum is
//! at least 1.
//!
//! What it costs: one more pass over the scores, to find the greatest.
//!
//! A common wrong turn: to limit the scores to 88 instead. Then all large scores are equal, and
//! 1000 and 900 share the probability.

/// The probability of each token: `exp(s_i) / sum_j exp(s_j)`.
///
/// `scores` is `[vocab]`; returns `[vocab]`, numbers from 0 to 1 whose sum is 1. At least one
/// score is finite, and none is NaN.
pub fn softmax(scores: &[f32]) -> Vec<f32> {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exps: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum: f32 = exps.iter().sum();
    exps.iter().map(|exp| exp / sum).collect()
}
