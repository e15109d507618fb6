//! One number of the middle after the other, each added to the result at once.

pub fn swiglu(x: &[f32], gate: &[Vec<f32>], up: &[Vec<f32>], down: &[Vec<f32>]) -> Vec<f32> {
    let mut y = vec![0.0; down.len()];
    for j in 0..gate.len() {
        let (mut g, mut u) = (0.0, 0.0);
        for i in 0..x.len() {
            g += gate[j][i] * x[i];
            u += up[j][i] * x[i];
        }
        let sigmoid = 1.0 / (1.0 + f32::exp(-g));
        for (y, row) in y.iter_mut().zip(down) {
            *y += row[j] * g * sigmoid * u;
        }
    }
    y
}
