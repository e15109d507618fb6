//! Min-p: relative to the best token.

/// A model that is sure of itself leaves little room, one that hesitates leaves a lot. Min-p
/// measures every token against the best one: it removes each token whose probability is less than
/// `share` times the best token's.
///
/// `scores` is `[vocab]`, and you change it in place: a score that is removed becomes -inf, the
/// others stay as they are. `share` is from 1e-5 to 1.
///
/// - A token that is exactly `share` times as likely stays. With `share` = 1 the best token stays,
///   and all tokens that equal it.
/// - The probabilities come from the softmax of the scores. Do you need to compute it?
/// - Some scores may be -inf already, at least one is finite, and none is NaN. Scores that are not
///   equal differ by at least a thousandth.
///
/// ```text
/// share = 0.5    [2.0, 1.5, 1.0, 0.5]    becomes [2.0, 1.5, -inf, -inf]
/// share = 1.0    [2.0, 1.5, 2.0, 0.5]    becomes [2.0, -inf, 2.0, -inf]
/// ```
pub fn min_p(scores: &mut [f32], share: f32) {
    todo!()
}
