//! A product with quantized weights: integers are summed over a group, then scaled.

/// Weights of a group.
pub const GROUP: usize = 4;

/// A group of weights of one output: each is its integer times the scale.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub scale: f32,
    pub integers: [i8; GROUP],
}

/// A group of quantized weights shares one scale, so there is no need to multiply by it for each
/// weight: sum over the integers, then scale once. Return one output of a layer: its quantized
/// weights times `x`, which has `GROUP` numbers for each group.
///
/// - The sum of a group begins at 0. It takes the products of integer and number from the first to
///   the last, each by one fused multiply-add: `integer.mul_add(x, sum)`, in f32.
/// - The output begins at 0. It takes the groups from the first to the last, each by
///   `scale.mul_add(sum, output)`.
///
/// The tests compare bits, so no other order will do, and no other rounding. Skip no product, even
/// if an integer is 0: 0 times infinity is NaN, and shows that `x` is broken.
///
/// ```text
/// scale 0.25, integers 4 -8 1 3;  x  1 2 -1 0.5
///
/// sum     4 - 16 - 1 + 1.5 = -11.5
/// output  0.25 * -11.5 = -2.875
/// ```
pub fn product(groups: &[Group], x: &[f32]) -> f32 {
    todo!()
}
