//! The microkernel: one panel times `M` rows, each output summed in one order.
//!
//! Why: the lanes are outputs, so no two of them ever meet. The row and lane loops have constant
//! lengths, so the compiler keeps all sums in registers and turns the innermost loop into vector
//! instructions. A weight that is loaded once is used for `M` rows.
//!
//! A panel is read from its beginning to its end, and each weight is moved there once, when the
//! model is loaded. A last panel that is narrower would give the innermost loop a length that the
//! compiler does not know, and all panels would pay for it: so zeros fill it up.
//!
//! What it costs: `M * LANES` sums have to fit into the registers. If there are more, they go to
//! memory, and each step loads and stores them.
//!
//! A common wrong turn: two partial sums, for even and odd `k`. That hides the latency of the
//! additions, but gives other bits than a kernel which does it differently for other `M`.

/// Outputs of a panel.
pub const LANES: usize = 4;

/// Packs a matrix `[n_out][n_in]` in panels, `[panels][n_in][LANES]`, the last filled with zeros.
pub fn pack(weights: &[Vec<f32>]) -> Vec<Vec<[f32; LANES]>> {
    let mut panels = Vec::new();
    for outputs in weights.chunks(LANES) {
        let mut panel = vec![[0.0; LANES]; outputs[0].len()];
        for (lane, row) in outputs.iter().enumerate() {
            for (k, weight) in row.iter().enumerate() {
                panel[k][lane] = *weight;
            }
        }
        panels.push(panel);
    }
    panels
}

/// Multiplies a panel, `[k][LANES]`, with `M` rows of `x`, packed as `[k][M]`.
pub fn microkernel<const M: usize>(panel: &[[f32; LANES]], x: &[[f32; M]]) -> [[f32; LANES]; M] {
    let mut sums = [[0.0; LANES]; M];
    for (weights, x) in panel.iter().zip(x) {
        for row in 0..M {
            for lane in 0..LANES {
                sums[row][lane] = weights[lane].mul_add(x[row], sums[row][lane]);
            }
        }
    }
    sums
}
