//! The order of a tile.

/// How many inputs a matrix unit takes at once.
pub const DEPTH: usize = 32;

/// A matrix unit adds in an order of its own, so code for other processors must add in it too.
/// Return one output: what was in it before, `output`, and the products of `weights` and `x`.
///
/// The inputs are taken [`DEPTH`] at a time; at the end there may be fewer. Of each such part:
///
/// 1. The products of the inputs with an even index are added up, from zero and in order.
/// 2. So are those of the inputs with an odd index.
/// 3. The two sums are added to each other, and then the result is added to the output.
///
/// Weights and `x` are as short as a bf16, so their products are exact in f32: `mul_add`, or a
/// product and then a sum, give the same bits.
///
/// ```text
/// big = 2^24, and in f32 big + 1 is big
///
/// weights  [big, 1, -big, 1], all of x is 1, output 0
/// even     big - big = 0
/// odd      1 + 1     = 2
/// output   0 + (0 + 2) = 2     (one after the other, it would be 1)
/// ```
pub fn tile_sum(weights: &[f32], x: &[f32], output: f32) -> f32 {
    todo!()
}
