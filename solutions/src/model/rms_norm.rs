//! RMSNorm: a vector divided by its root mean square.
//!
//! Why: each block adds to the vector, so its numbers grow on the way up. After the division the
//! mean of the squares is 1 again, however long the vector was, and only its direction is left. The
//! weights then decide how much of each number the next part sees.
//!
//! What it costs: two passes over the vector. In half precision the squares would overflow at 256,
//! so the mean is taken in f32.
//!
//! A common wrong turn: subtracting the mean first. That is LayerNorm, an older norm, which GPT-2
//! uses.

/// Divides `x` by its root mean square and scales it by `weight`, all `[d_model]`.
pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    let mean_square = x.iter().map(|x| x * x).sum::<f32>() / x.len() as f32;
    let root = (mean_square + eps).sqrt();
    x.iter().zip(weight).map(|(x, weight)| weight * x / root).collect()
}
