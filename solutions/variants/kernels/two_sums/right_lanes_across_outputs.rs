//! Four outputs side by side, each with a separate sum.

pub fn linear(weights: &[Vec<f32>], x: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let mut y = vec![Vec::new(); x.len()];
    for panel in weights.chunks(4) {
        for (row, x) in x.iter().enumerate() {
            let mut sums = [0.0_f32; 4];
            for (k, x) in x.iter().enumerate() {
                for (sum, weights) in sums.iter_mut().zip(panel) {
                    *sum = weights[k].mul_add(*x, *sum);
                }
            }
            y[row].extend_from_slice(&sums[..panel.len()]);
        }
    }
    y
}
