//! A group of weights as 8-bit integers that share a scale.
//!
//! Why: with the greatest magnitude at the end of the range, no weight is clipped, and the distance
//! between two integers, which is the scale, is as small as it can be without that. Rounding to
//! nearest leaves an error of at most half of it.
//!
//! What it costs: one pass for the greatest magnitude, one division for each weight, when the
//! model is loaded. -128 is not used, so that the range is the same on both sides.
//!
//! A common wrong turn: `as i8` without `round`, which cuts towards zero. And the greatest weight
//! is not the one of greatest magnitude: that may be negative.

/// Quantizes a group: its scale, and an integer for each weight.
pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    if greatest == 0.0 {
        return (0.0, vec![0; weights.len()]);
    }
    let scale = greatest / 127.0;
    let integers = weights.iter().map(|weight| (weight / scale).round() as i8).collect();
    (scale, integers)
}
