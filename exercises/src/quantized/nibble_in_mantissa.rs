//! An integer becomes an f32 without a conversion.

/// Converting an integer to a float costs an instruction, and a kernel does it for every weight.
/// You can do without: return the number `16 + nibble`, where the nibble is the `i`-th of `word`: 4
/// bits, 0 to 15, and the first one, `i = 0`, is the lowest.
///
/// An f32 has a sign bit, 8 bits of exponent and, lowest, 23 bits of mantissa. From 16 to 31 it has
/// the exponent of 16, and the highest 4 of the 23 bits count 8, 4, 2 and 1. `16.0_f32.to_bits()`
/// has zeros there. So a kernel only moves the nibble to these bits. How you do it is up to you:
/// the result is the same number.
///
/// ```text
/// word 0x8f0    i = 0: 16    i = 1: 31    i = 2: 24
/// ```
pub fn sixteen_plus(word: u32, i: usize) -> f32 {
    todo!()
}

/// The sum of eight integers times eight numbers, where `word` holds each integer plus 8.
///
/// - The sum begins at 0, and takes `sixteen_plus(word, i)` times `x[i]` in order, each by one
///   fused multiply-add.
/// - Each of these factors is the integer plus 24, so the sum is too large by 24 times the sum of
///   `x`. You correct that at the end: `(-24).mul_add(x_sum, sum)`, where `x_sum` begins at 0 and
///   adds `x` in order.
///
/// ```text
/// integers 4 -8 1 3 0 0 0 0     x 1 2 -1 0.5 0 0 0 0     x_sum 2.5
///
/// sum       28 * 1 + 16 * 2 - 25 * 1 + 27 * 0.5 = 48.5
/// result    48.5 - 24 * 2.5 = -11.5
/// ```
pub fn sum(word: u32, x: &[f32; 8]) -> f32 {
    todo!()
}
