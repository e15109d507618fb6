//! RoPE over a part of a head.

/// Some models let only a part of each head know its position. Turn the query or key `x` of one
/// head, `[head_dim]`, to `position`, but only its first `rotated` numbers.
///
/// - `rotated` is even, and at most `head_dim`.
/// - Number `i` of these is paired with number `i + rotated / 2`. Pair `i` is turned by the angle
///   `position * theta^(-2i / rotated)`: `a' = a cos - b sin` and `b' = b cos + a sin`. Compute the
///   angle, its sine and its cosine in f64: far into a text, an f32 has too few digits for it.
/// - The numbers from `rotated` on stay as they are.
///
/// ```text
/// head_dim 6, rotated 4, theta 10 000, position 1
///
/// x    [1, 1, 0, 0, 5, 6]
///      numbers 0 and 2 are turned by 1, and 1 and 3 by 0.01
///      [0.540, 1.000, 0.841, 0.010, 5, 6]
/// ```
pub fn partial_rotary(x: &[f32], position: usize, theta: f64, rotated: usize) -> Vec<f32> {
    todo!()
}
