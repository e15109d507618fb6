//! RoPE: a position as a rotation.

/// A dot product doesn't know where its two vectors stand in the text. RoPE tells it, by rotating
/// the query or key of a head by an angle that grows with its position.
///
/// `x` is `[head_dim]`, and so is the result. `head_dim` is even. Number `i` of the first half and
/// number `i + head_dim / 2` form a pair `(a, b)`, which you turn by the angle
/// `phi = position * theta^(-2i / head_dim)` (in radians), with `i` from 0 to `head_dim / 2 - 1`:
///
/// `a' = a cos(phi) - b sin(phi)` and `b' = b cos(phi) + a sin(phi)`.
///
/// The catch is the far end of a long text: with a hundred thousand positions and more, no result
/// may be off by more than 0.0001. So compute the angle in `f64`.
///
/// ```text
/// rope(&[1.0, 0.0], 0, 10000.0)             -> [1.0, 0.0]
/// rope(&[1.0, 0.0], 1, 10000.0)             -> [0.54, 0.84]
/// rope(&[1.0, 0.0, 0.0, 0.0], 1, 10000.0)   -> [0.54, 0.0, 0.84, 0.0]
/// ```
pub fn rope(x: &[f32], position: usize, theta: f64) -> Vec<f32> {
    todo!()
}
