//! The kept probabilities sum to 1 again.

/// Removes tokens from a distribution, and divides what is left by its own sum.
///
/// `probabilities` and `kept` are `[vocab]`. Token `i` stays where `kept[i]` is true. Returns
/// `[vocab]`: 0 for a token that was removed, and for one that stays its probability among those
/// that stay.
///
/// - Each token keeps its place in the list, which has at most 1,000.
/// - The probabilities may sum to less than 1: an earlier rule has removed some tokens then.
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
