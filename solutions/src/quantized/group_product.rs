//! A product with quantized weights: integers are summed over a group, then scaled.
//!
//! Why: the scale is the same for all weights of a group, so you can take it out of the sum. Then
//! it is one multiplication for a group instead of one for each weight. And an integer is exact in
//! f32, so within a group only the sum is rounded.
//!
//! What it costs: a second sum over the groups, in separate registers.
//!
//! A common wrong turn: dequantizing first, `scale * integer`, and multiplying then. The result is
//! as good, but has other bits. A crate that promises bit-identical results has to decide for one
//! of them.

/// Weights of a group.
pub const GROUP: usize = 4;

/// A group of weights of one output: each is its integer times the scale.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub scale: f32,
    pub integers: [i8; GROUP],
}

/// One output of a layer: its quantized weights times `x`, which has `GROUP` numbers for each group.
pub fn product(groups: &[Group], x: &[f32]) -> f32 {
    let mut output = 0.0;
    for (group, x) in groups.iter().zip(x.chunks(GROUP)) {
        let mut sum = 0.0;
        for (integer, x) in group.integers.iter().zip(x) {
            sum = f32::from(*integer).mul_add(*x, sum);
        }
        output = group.scale.mul_add(sum, output);
    }
    output
}
