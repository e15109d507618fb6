//! The kept probabilities sum to 1 again.

/// A rule has removed tokens, and the probabilities that are left no longer sum to 1. Divide them
/// by their sum.
///
/// `probabilities` and `kept` are `[vocab]`. Token `i` stays if `kept[i]` is true. Return
/// `[vocab]`: 0 for a token that was removed, and for one that stays its probability among the
/// tokens that stay.
///
/// - Each token keeps its place in the list, which has at most 1,000.
/// - The probabilities may sum to less than 1 already, if an earlier rule has removed some tokens.
/// - At least one token that stays has a probability above 0, which may be as small as 1e-30.
/// - A result may be off by 0.00001, but a token that was removed has exactly 0.
///
/// ```text
/// renormalise(&[0.5, 0.25, 0.25], &[true, true, false])    -> [0.6667, 0.3333, 0.0]
/// renormalise(&[0.5, 0.25, 0.25], &[false, true, false])   -> [0.0, 1.0, 0.0]
/// renormalise(&[0.5, 0.25, 0.0], &[true, true, true])      -> [0.6667, 0.3333, 0.0]
/// ```
pub fn renormalise(probabilities: &[f32], kept: &[bool]) -> Vec<f32> {
    todo!()
}
