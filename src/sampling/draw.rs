//! Drawing one token from a distribution.

use rand_chacha::rand_core::Rng;

// ANCHOR: draw
/// Draws a token from a distribution. A token of probability zero is never drawn, even if rounding
/// makes the probabilities sum to a little less or more than 1.
pub(super) fn draw(probabilities: &[f32], generator: &mut impl Rng) -> u32 {
    let total: f64 = probabilities.iter().copied().map(f64::from).sum();
    let mut left = uniform(generator) * total;
    let mut drawn = 0;
    for (id, &probability) in probabilities.iter().enumerate() {
        if probability > 0.0 {
            drawn = id as u32;
            left -= f64::from(probability);
            if left < 0.0 {
                break;
            }
        }
    }
    drawn
}
// ANCHOR_END: draw

/// Draws nothing: what follows is as after a [`draw`].
pub(super) fn skip(generator: &mut impl Rng) {
    uniform(generator);
}

/// A uniform number in [0, 1), in steps of 2^-53, the precision of an f64.
pub(super) fn uniform(generator: &mut impl Rng) -> f64 {
    (generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}
