//! The rows of the matrices are taken for what goes in.

pub fn swiglu(x: &[f32], gate: &[Vec<f32>], up: &[Vec<f32>], down: &[Vec<f32>]) -> Vec<f32> {
    let switched = product(gate, x).into_iter().map(silu);
    let wide: Vec<f32> = switched.zip(product(up, x)).map(|(gate, up)| gate * up).collect();
    product(down, &wide)
}

fn product(matrix: &[Vec<f32>], x: &[f32]) -> Vec<f32> {
    (0..matrix[0].len())
        .map(|out| matrix.iter().zip(x).map(|(row, x)| row[out] * x).sum())
        .collect()
}

fn silu(z: f32) -> f32 {
    z / (1.0 + (-z).exp())
}
