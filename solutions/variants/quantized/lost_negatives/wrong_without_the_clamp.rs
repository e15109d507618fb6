//! The clamp is gone, and the cast clamps.

pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let greatest = weights.iter().copied().fold(0.0, f32::max);
    if greatest == 0.0 {
        return (0.0, vec![0; weights.len()]);
    }
    let scale = greatest / 127.0;
    (scale, weights.iter().map(|weight| (weight / scale).round() as i8).collect())
}
