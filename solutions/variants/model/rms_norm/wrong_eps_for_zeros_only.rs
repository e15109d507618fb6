//! `eps` is used only where the vector is all zeros.

pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    let mean_square = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
    let root = (if mean_square == 0.0 { eps } else { mean_square }).sqrt();
    x.iter().zip(weight).map(|(x, weight)| weight * x / root).collect()
}
