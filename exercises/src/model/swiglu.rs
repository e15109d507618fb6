//! SwiGLU: the feed-forward network, at one position.

/// Attention mixes positions. Then the feed-forward network works on each vector by itself. Compute
/// it for one vector:
///
/// `y = W_down (silu(W_gate x) * W_up x)`, where `*` multiplies number by number, and
/// `silu(z) = z / (1 + e^-z)` is applied to each number.
///
/// - `x` is `[d_model]`, and so is the result.
/// - `gate` and `up` are `[d_ff][d_model]`: one row for each number that comes out. The number is
///   the dot product of the row and the vector that goes in.
/// - `down` is `[d_model][d_ff]`.
/// - `z` may be so large that `e^z` or `e^-z` is infinite in an `f32`. Then silu is `z` or 0.
///
/// ```text
/// swiglu(&[2.0], &[vec![1.0]], &[vec![3.0]], &[vec![1.0]])   -> [10.57]
///     gate: 1 * 2 = 2, silu(2) = 1.76     up: 3 * 2 = 6     down: 1 * 1.76 * 6
/// ```
pub fn swiglu(x: &[f32], gate: &[Vec<f32>], up: &[Vec<f32>], down: &[Vec<f32>]) -> Vec<f32> {
    todo!()
}
