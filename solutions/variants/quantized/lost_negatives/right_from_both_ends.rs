//! The greater of the maximum and the negated minimum.

pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let most = weights.iter().copied().fold(0.0, f32::max);
    let least = weights.iter().copied().fold(0.0, f32::min);
    let scale = most.max(-least) / 127.0;
    if scale == 0.0 {
        return (0.0, vec![0; weights.len()]);
    }
    (scale, weights.iter().map(|weight| (weight / scale).round() as i8).collect())
}
