//! eps is added to the root.

pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    let mean_square = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
    let root = mean_square.sqrt() + eps;
    x.iter().zip(weight).map(|(x, weight)| weight * x / root).collect()
}
