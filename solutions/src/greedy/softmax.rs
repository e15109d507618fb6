//! A softmax that does not overflow, with a sink.
//!
//! Why: `exp` of more than 88.7 is infinite in an `f32`, and infinity divided by infinity is NaN.
//! Subtracting the greatest number from all divides every `exp` and their sum by the same factor,
//! so no probability changes. The greatest term is then `exp(0) = 1`: nothing overflows, and the
//! sum is at least 1. The sink is a term of the sum too, so it may be the greatest, and it is
//! shifted like the others.
//!
//! What it costs: one more pass over the scores, to find the greatest.
//!
//! A common wrong turn: limiting the scores to 88 instead. Then all large scores are equal, and
//! 1000 and 900 share the probability.

/// The probability of each token: `exp(s_i) / (exp(sink) + sum_j exp(s_j))`.
///
/// `scores` is `[vocab]`; returns `[vocab]`, numbers from 0 to 1, whose sum is 1 less the share of the
/// sink. At least one score or the sink is finite, and none is NaN.
pub fn softmax(scores: &[f32], sink: f32) -> Vec<f32> {
    let greatest = scores.iter().copied().fold(sink, f32::max);
    let exps: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum = exps.iter().sum::<f32>() + (sink - greatest).exp();
    exps.iter().map(|exp| exp / sum).collect()
}
