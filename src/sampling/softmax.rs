//! Scores to probabilities.

// ANCHOR: softmax
/// `exp(s_i) / sum_j exp(s_j)`: `[vocab]` -> `[vocab]`. At least one score must be finite; a
/// score of -inf gets the probability 0.
///
/// Subtracting the greatest score first keeps `exp` from overflowing and changes no probability.
/// The sum is in f64, so that a large vocabulary loses no precision.
pub fn softmax(scores: &[f32]) -> Vec<f32> {
    let max = greatest(scores);
    let exps: Vec<f32> = scores.iter().map(|score| (score - max).exp()).collect();
    let sum: f64 = exps.iter().copied().map(f64::from).sum();
    exps.iter().map(|&exp| (f64::from(exp) / sum) as f32).collect()
}
// ANCHOR_END: softmax

/// The greatest score; -inf for an empty slice.
pub(super) fn greatest(scores: &[f32]) -> f32 {
    // Several maxima at once: the next comparison need not wait for the last.
    let (groups, rest) = scores.as_chunks::<16>();
    let mut maxima = [f32::NEG_INFINITY; 16];
    for group in groups {
        for (max, score) in maxima.iter_mut().zip(group) {
            *max = max.max(*score);
        }
    }
    maxima.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max)
}
