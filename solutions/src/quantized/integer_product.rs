//! Integers times integers: a product whose activations are quantized too.
//!
//! Why: both scales are the same for a whole group, so both come out of the sum. What is left is
//! exact, and an exact sum has no order: AVX2, VNNI and this loop may add as they like, and the
//! result is bit-identical.
//!
//! What it costs: `x` has to be quantized in each step, and that adds an error. What it gains: a
//! register holds four times as many bytes as f32 numbers.
//!
//! A common wrong turn: numbers that are too small. One product takes 16 bits, and two of -128
//! times -128 do not fit into an i16: AVX2's `vpmaddubsw` adds pairs in 16 bits and saturates.

/// Numbers of a group.
pub const GROUP: usize = 32;

/// A group of weights, or of activations: each is its integer times the scale.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    pub scale: f32,
    pub integers: [i8; GROUP],
}

/// One output of a layer: its weights times `x`, both in 8 bits.
pub fn product(weights: &[Group], x: &[Group]) -> f32 {
    let mut output = 0.0;
    for (weights, x) in weights.iter().zip(x) {
        let mut sum = 0;
        for (weight, x) in weights.integers.iter().zip(x.integers) {
            sum += i32::from(*weight) * i32::from(x);
        }
        output = (weights.scale * x.scale).mul_add(sum as f32, output);
    }
    output
}

/// `sum` and four products, of bytes that are weights plus 128, as `vpdpbusd` computes them.
pub fn four(sum: i32, bytes: [u8; 4], x: [i8; 4]) -> i32 {
    let mut sum = sum;
    let mut of_x = 0;
    for (byte, x) in bytes.into_iter().zip(x) {
        sum += i32::from(byte) * i32::from(x);
        of_x += i32::from(x);
    }
    sum - 128 * of_x
}
