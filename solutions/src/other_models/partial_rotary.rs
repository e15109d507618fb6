//! RoPE of a smaller head, with the rest behind it.
//!
//! Why: the rotated part is treated as a head of `rotated` numbers. The others carry no position:
//! they can tell what a token is, wherever it stands. So both the pairs and the frequencies belong
//! to the smaller head.
//!
//! What it costs: less than RoPE.
//!
//! A common wrong turn: pairing over the half of the whole head, or dividing by `head_dim` in the
//! exponent. The text begins well, and gets worse with the distance.

/// The query or key `x` of one head, `[head_dim]`, turned to `position`: only its first `rotated` numbers.
pub fn partial_rotary(x: &[f32], position: usize, theta: f64, rotated: usize) -> Vec<f32> {
    let half = rotated / 2;
    let mut turned = x.to_vec();
    for i in 0..half {
        let angle = position as f64 * theta.powf(-2.0 * i as f64 / rotated as f64);
        let (sin, cos) = (angle.sin() as f32, angle.cos() as f32);
        let (a, b) = (x[i], x[i + half]);
        turned[i] = a * cos - b * sin;
        turned[i + half] = b * cos + a * sin;
    }
    turned
}
