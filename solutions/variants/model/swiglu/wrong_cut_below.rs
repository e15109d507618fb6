//! silu is 0 below -5.

pub fn swiglu(x: &[f32], gate: &[Vec<f32>], up: &[Vec<f32>], down: &[Vec<f32>]) -> Vec<f32> {
    let switched = product(gate, x).into_iter().map(silu);
    let wide: Vec<f32> = switched.zip(product(up, x)).map(|(gate, up)| gate * up).collect();
    product(down, &wide)
}

fn product(matrix: &[Vec<f32>], x: &[f32]) -> Vec<f32> {
    matrix.iter().map(|row| row.iter().zip(x).map(|(weight, x)| weight * x).sum()).collect()
}

fn silu(z: f32) -> f32 {
    if z < -5.0 {
        0.0
    } else {
        z / (1.0 + (-z).exp())
    }
}
