//! Min-p: relative to the best token.

/// Removes the tokens whose probability is less than `share` times that of the most likely token.
///
/// `scores` is `[vocab]` and is changed in place: a score that is removed becomes -inf, the others
/// stay as they are. `share` is from 1e-5 to 1.
///
/// - A token that is exactly `share` times as likely stays. With `share` = 1 it is the best token,
///   and all that are equal to it.
/// - The probabilities are those of the softmax. Do you need to compute it?
/// - Some scores may be -inf already, at least one is finite, and none is NaN. Scores that are not equal
///   differ by at least a thousandth.
///
/// ```text
/// share = 0.5    [2.0, 1.5, 1.0, 0.5]    becomes [2.0, 1.5, -inf, -inf]
/// share = 1.0    [2.0, 1.5, 2.0, 0.5]    becomes [2.0, -inf, 2.0, -inf]
/// ```
pub fn min_p(scores: &mut [f32], share: f32) {
    todo!()
}
