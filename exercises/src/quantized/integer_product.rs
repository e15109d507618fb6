//! Integers times integers: a product whose activations are quantized too.

/// Numbers of a group.
pub const GROUP: usize = 32;

/// A group of weights, or of activations: each is its integer times the scale.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub scale: f32,
    pub integers: [i8; GROUP],
}

/// Processors multiply small integers faster than floating-point numbers, if both factors are
/// integers. So quantize the activations too. Return one output of a layer: its weights times `x`,
/// both in 8 bits and in equally many groups.
///
/// - Within a group you multiply and add only integers. That sum is exact, so you may take the
///   products in any order; but each number on the way must be large enough for it. The integers
///   are from -128 to 127.
/// - The output begins at 0. It takes the groups from the first to the last, each by one fused
///   multiply-add in f32: `scale.mul_add(sum, output)`, where `scale` is the product of both
///   scales.
///
/// The tests compare bits.
///
/// ```text
/// weights  scale 0.25, integers 4 -8 1 3 0 ...     x  scale 0.5, integers 2 4 -2 1 0 ...
///
/// sum     8 - 32 - 2 + 3 = -23
/// output  0.25 * 0.5 * -23 = -2.875
/// ```
pub fn product(weights: &[Group], x: &[Group]) -> f32 {
    todo!()
}

/// VNNI's instruction `vpdpbusd` adds four products to each of 16 sums. This function computes one
/// of these sums. The catch: the instruction multiplies *unsigned* bytes by signed ones, so the
/// weights come with 128 added.
///
/// Return the result for four weights and four numbers of `x`, without the 128:
/// `sum + weights[0] * x[0] + ... + weights[3] * x[3]`, where each weight is 128 less than its
/// byte. In the products, use each byte as it is, 0 to 255. That is too much by 128 times the sum
/// of `x`: take it off at the end.
///
/// ```text
/// bytes 132 120 129 131    x 2 4 -2 1     sum 100
///
/// 100 + 264 + 480 - 258 + 131 = 717       717 - 128 * 5 = 77
/// ```
pub fn four(sum: i32, bytes: [u8; 4], x: [i8; 4]) -> i32 {
    todo!()
}
