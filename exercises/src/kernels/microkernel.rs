//! The microkernel: one panel times `M` rows, each output summed in one order.

/// Outputs of a panel.
pub const LANES: usize = 4;

/// Packs a matrix `[n_out][n_in]` in panels, `[panels][n_in][LANES]`, as the microkernel reads them.
///
/// - A panel holds `LANES` outputs that follow each other. For one input, their weights lie side by
///   side: the entry `[p][k][lane]` is the weight of output `p * LANES + lane` for input `k`.
/// - Where the last panel has fewer outputs, zeros take the other lanes.
/// - All rows of `weights` have the same length. Without outputs there are no panels.
///
/// ```text
/// weights of 5 outputs, 2 inputs        panel 0, outputs 0 to 3     panel 1, output 4
/// 1 2   3 4   5 6   7 8   9 10          k = 0:  1 3 5 7             k = 0:   9 0 0 0
///                                       k = 1:  2 4 6 8             k = 1:  10 0 0 0
/// ```
pub fn pack(weights: &[Vec<f32>]) -> Vec<Vec<[f32; LANES]>> {
    todo!()
}

/// Multiplies a panel, `[k][LANES]`, with `M` rows of `x`, packed as `[k][M]`. Returns
/// `[M][LANES]`.
///
/// Each output is a sum of its own. It begins at 0, and takes the products in the order of `k`,
/// from 0 upwards, each by one fused multiply-add: `weight.mul_add(x, sum)`, which is rounded
/// once. The tests look at the bits, so no other order will do, and no other rounding. No product is
/// skipped, also where a weight is 0: 0 times infinity is NaN, and shows that `x` is broken.
///
/// `panel` and `x` are equally long.
///
/// ```text
/// panel   k = 0:  1 2 3 4       x   k = 0:  1 10       sums  row 0:  11  2  3  4
///         k = 1:  5 0 0 0           k = 1:  2  0             row 1:  10 20 30 40
/// ```
pub fn microkernel<const M: usize>(panel: &[[f32; LANES]], x: &[[f32; M]]) -> [[f32; LANES]; M] {
    todo!()
}
