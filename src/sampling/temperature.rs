//! Temperature: how much the differences between scores count.

use super::softmax::greatest;

// ANCHOR: temperature
/// Divides every score by `temperature`, which is greater than 0.
///
/// The greatest score is subtracted before the division, which changes no probability: the
/// quotients are then at most 0 and cannot become NaN or +inf, however small the temperature is.
/// One that f32 cannot hold becomes -inf: its probability is 0.
pub(super) fn apply(scores: &mut [f32], temperature: f32) {
    let max = greatest(scores);
    for score in scores {
        *score = (*score - max) / temperature;
    }
}
// ANCHOR_END: temperature
