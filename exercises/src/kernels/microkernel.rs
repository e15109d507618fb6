//! The microkernel: one panel times `M` rows, each output summed in one order.

/// Outputs of a panel.
pub const LANES: usize = 4;

/// Multiplies a panel, `[k][LANES]`, with `M` rows of `x`, packed as `[k][M]`. Returns
/// `[M][LANES]`.
///
/// Each output is a sum of its own. It begins at 0, and takes the products in the order of `k`,
/// from 0 upwards, each by one fused multiply-add: `weight.mul_add(x, sum)`, which is rounded
/// once. The tests look at the bits, so no other order will do, and no other rounding.
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
