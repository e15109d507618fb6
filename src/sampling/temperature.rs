//! Temperature: scales the differences between scores.

use super::softmax::greatest;

// ANCHOR: temperature
/// Divides every score by `temperature`, which is greater than 0.
///
/// The greatest score is subtracted before the division, which changes no probability: the
/// quotients are then at most 0, so no temperature makes them NaN or +inf. A quotient below the
/// range of f32 becomes -inf, which is probability 0.
pub(super) fn apply(scores: &mut [f32], temperature: f32) {
    let max = greatest(scores);
    for score in scores {
        *score = (*score - max) / temperature;
    }
}
// ANCHOR_END: temperature
