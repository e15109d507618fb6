//! The best scale for given integers.
//!
//! Why: the sum of `(weight - s * integer)` squared is a parabola in `s`. Its slope is 0 if the sum
//! of `integer * (weight - s * integer)` is 0, which is one linear equation: `s` is the sum of
//! `weight * integer` divided by the sum of `integer` squared.
//!
//! What it costs: two sums over the group. The integers were chosen for another scale, so they may
//! no longer be the nearest ones: a quantizer rounds again, and tries several scales to begin with.
//!
//! A common wrong turn: the mean of `weight / integer`. It gives small integers as much influence
//! as large ones, and divides by 0.

/// The scale for which `s * integers` is nearest to `weights`, by the sum of squares.
pub fn best_scale(weights: &[f32], integers: &[i8]) -> f32 {
    let (mut product, mut square) = (0.0, 0.0);
    for (weight, integer) in weights.iter().zip(integers) {
        let integer = f32::from(*integer);
        product += weight * integer;
        square += integer * integer;
    }
    if square == 0.0 { 0.0 } else { product / square }
}
