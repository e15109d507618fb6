//! Scores to probabilities.

// ANCHOR: softmax
/// `exp(s_i) / sum_j exp(s_j)`: `[vocab]` -> `[vocab]`. At least one score must be finite; a
/// score of -inf gets the probability 0.
///
/// The greatest score is subtracted first. That changes no probability, and keeps `exp` from
/// overflowing. The sum is taken in f64, so that a large vocabulary loses nothing.
pub fn softmax(scores: &[f32]) -> Vec<f32> {
    let max = greatest(scores);
    let exps: Vec<f32> = scores.iter().map(|score| (score - max).exp()).collect();
    let sum: f64 = exps.iter().copied().map(f64::from).sum();
    exps.iter().map(|&exp| (f64::from(exp) / sum) as f32).collect()
}
// ANCHOR_END: softmax

/// The greatest score; -inf where there are none.
pub(super) fn greatest(scores: &[f32]) -> f32 {
    scores.iter().copied().fold(f32::NEG_INFINITY, f32::max)
}
