//! Typical sampling: neither too likely nor too unlikely.

/// A text that always takes the likeliest token is dull, and one that takes the least likely is
/// nonsense. Typical sampling prefers tokens about as surprising as the model expects: keep the
/// ones whose surprise is nearest to the entropy, as many as it takes for their probabilities to
/// sum to at least `mass`.
///
/// `probabilities` is `[vocab]`, in the order of the ids, with the sum 1. `mass` is above 0 and
/// below 1. Return `[vocab]`: 0 for a token that was removed, and for one that stays its
/// probability divided by the sum of all that stay.
///
/// - The surprise of a token is the logarithm of 1/p, and the entropy is the mean surprise. Bits or
///   nats doesn't matter, as long as both use the same.
/// - Nearest means that the distance counts, above or below.
/// - The token that brings the sum to `mass` stays, as in top-p. Of equally near tokens any may
///   stay, as long as no more stay than it takes.
/// - You may compute in `f32` or in `f64`: where the two disagree, either is right.
/// - A token of probability 0 never stays. Any other has a surprise that is a number. Watch out for
///   the smallest: above 0 that is 1.4e-45, and its 1/p is more than an `f32` holds.
///
/// ```text
/// probabilities    0.5    0.25   0.125  0.125     entropy 1.75 bits
/// surprise         1      2      3      3         bits
/// distance         0.75   0.25   1.25   1.25
///
/// typical(&[0.5, 0.25, 0.125, 0.125], 0.25)   -> [0.0, 1.0, 0.0, 0.0]
/// typical(&[0.5, 0.25, 0.125, 0.125], 0.5)    -> [0.6667, 0.3333, 0.0, 0.0]
/// ```
pub fn typical(probabilities: &[f32], mass: f32) -> Vec<f32> {
    todo!()
}
