//! In f64, with the reciprocal of the root.

pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    let mut sum = 0.0_f64;
    for &x in x {
        sum += f64::from(x).powi(2);
    }
    let scale = (sum / x.len() as f64 + f64::from(eps)).powf(-0.5) as f32;
    let mut y = x.to_vec();
    for i in 0..y.len() {
        y[i] *= scale * weight[i];
    }
    y
}
