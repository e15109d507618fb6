//! Top-p: the smallest set that reaches a share of the mass.

/// How many tokens are worth keeping? That depends on how sure the model is, so a fixed `k` is
/// always wrong somewhere. Top-p keeps the nucleus instead: the smallest set of most likely tokens
/// whose probabilities sum to at least `p`.
///
/// `probabilities` is `[vocab]`, in the order of the ids, with the sum 1. `p` is above 0 and at
/// most 1. Return `[vocab]`: 0 for a token that was removed, and for one that stays its probability
/// divided by the sum of all that stay.
///
/// - The token whose probability brings the sum to `p` stays. So at least one token stays.
/// - If equally likely tokens are at the edge, any of them may stay, as long as the set is the
///   smallest.
/// - The sum may be an `f32` or an `f64`: where the two disagree, either is right.
/// - `p` = 1 removes nothing, even if rounding makes the sum reach 1 before the last token.
///
/// ```text
/// nucleus(&[0.25, 0.125, 0.5, 0.125], 0.75)   -> [0.3333, 0.0, 0.6667, 0.0]
/// nucleus(&[0.25, 0.125, 0.5, 0.125], 0.1)    -> [0.0, 0.0, 1.0, 0.0]
/// ```
pub fn nucleus(probabilities: &[f32], p: f32) -> Vec<f32> {
    todo!()
}
