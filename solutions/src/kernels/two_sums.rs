//! Two sums that differed have one order now.
//!
//! Why: floating-point addition is not associative. `dot` summed every fourth product separately
//! and added the four sums in the end; the other path took one product after the other. Both are
//! right to within rounding, but they differ in the last bits. So a row alone had other numbers
//! than in a batch, and somewhere two tokens were near enough to change places.
//!
//! What it costs: a single sum does wait for itself, at each addition. The speed comes back if the
//! lanes of a register are different outputs, each with a separate sum: that is what panels are
//! for.
//!
//! A common wrong turn: comparing with a tolerance, or rounding the results. Both hide the
//! difference until it falls on a boundary.

/// A linear layer. `weights` is `[n_out][n_in]`, `x` is `[rows][n_in]`; returns `[rows][n_out]`.
///
/// Each output is a sum over `k`, from 0 upwards, by fused multiply-add.
pub fn linear(weights: &[Vec<f32>], x: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let mut y = vec![vec![0.0; weights.len()]; x.len()];
    for (output, weights) in weights.iter().enumerate() {
        for (row, x) in x.iter().enumerate() {
            y[row][output] = dot(weights, x);
        }
    }
    y
}

fn dot(weights: &[f32], x: &[f32]) -> f32 {
    let mut sum = 0.0;
    for (weight, x) in weights.iter().zip(x) {
        sum = weight.mul_add(*x, sum);
    }
    sum
}
