//! The range is -1 to 1, whatever the group holds.

pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let scale = 1.0 / 127.0;
    (scale, weights.iter().map(|weight| (weight / scale).round() as i8).collect())
}
