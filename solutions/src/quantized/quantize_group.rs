//! A group of weights as 8-bit integers that share a scale, and a row of groups back.
//!
//! Why: with the greatest magnitude at the end of the range, no weight is clipped, and the distance
//! between two integers, which is the scale, is as small as it can be without clipping. Rounding to
//! nearest leaves an error of at most half of it. On the way back, `chunks` cuts the integers where
//! the groups begin and gives the shorter last one by itself, so you compute no index.
//!
//! What it costs: one pass for the greatest magnitude, one division for each weight, when the model
//! is loaded. -128 is not used, so that the range is the same on both sides.
//!
//! A common wrong turn: the greatest weight instead of the greatest magnitude, which may be
//! negative: a group without positive weights has a scale of 0 then, and in others all large
//! negative weights become the same. And `as i8` without `round`, which cuts towards zero: each
//! weight loses half a scale on average, so the errors of a sum add up instead of cancelling.

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

/// The weights of a row: each is its integer times the scale of its group.
pub fn dequantize(scales: &[f32], integers: &[i8], group: usize) -> Vec<f32> {
    let mut weights = Vec::with_capacity(integers.len());
    for (scale, integers) in scales.iter().zip(integers.chunks(group)) {
        weights.extend(integers.iter().map(|integer| scale * f32::from(*integer)));
    }
    weights
}
