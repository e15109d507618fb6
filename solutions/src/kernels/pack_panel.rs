//! Weights as a microkernel reads them: packed in panels.
//!
//! Why: for one input `k`, the microkernel multiplies the weights of many outputs with the same
//! number. In a matrix stored row by row these weights are `n_in` numbers apart; in a panel they
//! are one vector register. A panel is read from its beginning to its end.
//!
//! What it costs: each weight is moved once, when the model is loaded. The zeros at the end are at
//! most `lanes - 1` rows of a matrix that has hundreds.
//!
//! A common wrong turn: to leave the last panel narrower. Then the innermost loop has a length
//! that the compiler does not know, and all panels pay for it.

/// Packs a matrix `[n_out][n_in]` in panels, `[panels][n_in][lanes]`, the last filled with zeros.
pub fn pack(weights: &[Vec<f32>], lanes: usize) -> Vec<Vec<Vec<f32>>> {
    let mut panels = Vec::new();
    for outputs in weights.chunks(lanes) {
        let mut panel = vec![vec![0.0; lanes]; outputs[0].len()];
        for (lane, row) in outputs.iter().enumerate() {
            for (k, weight) in row.iter().enumerate() {
                panel[k][lane] = *weight;
            }
        }
        panels.push(panel);
    }
    panels
}
