//! The microkernel: one panel times `M` rows, each output summed in one order.

/// Outputs of a panel.
pub const LANES: usize = 4;

/// The processor multiplies several weights at once, if they are adjacent in memory. In a matrix
/// `[n_out][n_in]` the weights of neighbouring outputs are not. So pack it into panels,
/// `[panels][n_in][LANES]`, as the microkernel reads them.
///
/// - A panel holds `LANES` consecutive outputs. For one input, their weights are adjacent: the
///   entry `[p][k][lane]` is the weight of output `p * LANES + lane` for input `k`.
/// - If the last panel has fewer outputs, zeros fill the other lanes.
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

/// Now multiply a panel, `[k][LANES]`, with `M` rows of `x`, packed as `[k][M]`. Return
/// `[M][LANES]`.
///
/// Each output has a separate sum. It begins at 0, and takes the products in the order of `k`, from
/// 0 upwards, each by one fused multiply-add: `weight.mul_add(x, sum)`, which rounds once. The
/// tests compare bits, so no other order will do, and no other rounding. Skip no product, even if a
/// weight is 0: 0 times infinity is NaN, and shows that `x` is broken.
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
