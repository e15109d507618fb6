//! Divides by the length of the vector: the sum is taken, not the mean.

pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    let mean_square = x.iter().map(|x| x * x).sum::<f32>();
    let root = (mean_square + eps).sqrt();
    x.iter().zip(weight).map(|(x, weight)| weight * x / root).collect()
}
