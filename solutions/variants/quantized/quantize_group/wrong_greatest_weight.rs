//! The greatest weight, and not the greatest magnitude.

pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let greatest = weights.iter().copied().fold(f32::MIN, f32::max);
    let scale = greatest / 127.0;
    (scale, weights.iter().map(|weight| (weight / scale).round() as i8).collect())
}
