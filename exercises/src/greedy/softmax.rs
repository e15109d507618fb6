//! A softmax that does not overflow.

/// The probability of each token: `exp(s_i) / sum_j exp(s_j)`.
///
/// `scores` is `[vocab]`; returns `[vocab]`, numbers from 0 to 1 whose sum is 1.
///
/// - Scores may be large: `exp(1000)` is infinite in an `f32`, and the result must not be NaN.
///   Adding the same number to all scores changes no probability: use that.
/// - A score of -inf means that a rule removed the token. Its probability is 0.
/// - At least one score is finite, and none is NaN.
///
/// ```text
/// softmax(&[0.0, 0.0])                 -> [0.5, 0.5]
/// softmax(&[1000.0, 1000.0])           -> [0.5, 0.5]
/// softmax(&[2.0, f32::NEG_INFINITY])   -> [1.0, 0.0]
/// ```
pub fn softmax(scores: &[f32]) -> Vec<f32> {
    todo!()
}
