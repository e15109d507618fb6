//! The microkernel: one panel times `M` rows, each output summed in one order.
//!
//! Why: the lanes are outputs, so no two of them ever meet. The row and lane loops have constant
//! lengths, and the compiler keeps all sums in registers and makes vector instructions of the
//! innermost loop. A weight that is loaded once is used for `M` rows.
//!
//! What it costs: `M * LANES` sums have to fit into the registers. With more, they are kept in
//! memory, and each step loads and stores them.
//!
//! A common wrong turn: two partial sums, for even and odd `k`. That hides the latency of the
//! additions, and gives other bits than a kernel which does it differently for other `M`.

/// Outputs of a panel.
pub const LANES: usize = 4;

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
