//! The weights come first, and take part in the mean.

pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    let x: Vec<f32> = x.iter().zip(weight).map(|(x, w)| x * w).collect();
    let mean_square = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
    let root = (mean_square + eps).sqrt();
    x.iter().map(|x| x / root).collect()
}
