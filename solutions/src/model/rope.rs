//! RoPE: a position as a rotation.
//!
//! Why: the dot product of two rotated vectors depends on the difference of their angles. Both
//! angles grow with the position, so what is left is the distance between the two tokens. Fast
//! pairs tell neighbours apart, slow pairs tell far tokens apart.
//!
//! What it costs: `head_dim / 2` cosines and sines a position. All heads and blocks need the same
//! ones, so a model makes a table of them once. The angles are computed in f64 here, because in f32
//! the angle of a far position has few digits behind the point.
//!
//! A common wrong turn: pairing neighbours, number `2i` with number `2i + 1`. Some models are laid
//! out like that. With the weights of one that isn't, it fails without an error.

/// The query or key `x` of one head, `[head_dim]`, turned to `position`.
pub fn rope(x: &[f32], position: usize, theta: f64) -> Vec<f32> {
    let half = x.len() / 2;
    let mut turned = x.to_vec();
    for i in 0..half {
        let angle = position as f64 * theta.powf(-2.0 * i as f64 / x.len() as f64);
        let (sin, cos) = (angle.sin() as f32, angle.cos() as f32);
        let (a, b) = (x[i], x[i + half]);
        turned[i] = a * cos - b * sin;
        turned[i + half] = b * cos + a * sin;
    }
    turned
}
