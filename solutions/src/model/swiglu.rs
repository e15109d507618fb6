//! SwiGLU: the feed-forward network, at one position.
//!
//! Why: two matrices read the same vector. The output of one decides how much of the other's
//! passes, so the network can do more than add and scale. Positions do not meet here: only
//! attention mixes them.
//!
//! What it costs: three products with a matrix of `d_model * d_ff` numbers. In ember these are
//! three fifths of all weights, and in larger models more.
//!
//! A common wrong turn: applying silu to the wrong half. In files the two matrices have one shape
//! and stand next to each other, so nothing complains.

/// What the feed-forward network makes of `x`, `[d_model]`. `gate` and `up` are
/// `[d_ff][d_model]`, `down` is `[d_model][d_ff]`.
pub fn swiglu(x: &[f32], gate: &[Vec<f32>], up: &[Vec<f32>], down: &[Vec<f32>]) -> Vec<f32> {
    let switched = product(gate, x).into_iter().map(silu);
    let wide: Vec<f32> = switched.zip(product(up, x)).map(|(gate, up)| gate * up).collect();
    product(down, &wide)
}

fn product(matrix: &[Vec<f32>], x: &[f32]) -> Vec<f32> {
    matrix.iter().map(|row| row.iter().zip(x).map(|(weight, x)| weight * x).sum()).collect()
}

fn silu(z: f32) -> f32 {
    z / (1.0 + (-z).exp())
}
