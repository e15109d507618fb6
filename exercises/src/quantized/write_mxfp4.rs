//! A block of MXFP4, written and read back.

/// The weights of a block.
pub const BLOCK: usize = 32;

/// Write a block: return its scale in one byte, and the codes of its weights, two in a byte.
///
/// - The scale is a power of two. Its exponent is the greatest whole number `e` for which `2^e` is not above the
///   greatest magnitude of the block, less 2: the greatest power of two that E2M1 has is 4, or `2^2`. Greater weights
///   than 6 times the scale become 6 times the scale.
/// - What is stored is the exponent plus 127. If that is below 0, it is 0.
/// - A code is `nearest(weight / scale)`. In each byte the lower four bits are the first of two, the upper the second.
/// - If all weights are 0, so are all codes. Choose any scale.
/// - **Limits**, for when that passes: weights are finite, and may be as large or small as an f32 can be. A power of two
///   and the f32 below it have different exponents.
///
/// ```text
/// weights   0.9 -2.0 0.35 0.65 0 ... 0
/// greatest  2 = 2^1, so the scale is 2^(1 - 2) = 0.5, and is stored as 126
/// codes     1.8 -> 4 (2)   -4 -> 14 (-4)   0.7 -> 1 (0.5)   1.3 -> 3 (1.5)
/// bytes     e4 31 00 ... 00
/// read      1 -2 0.25 0.75 0 ... 0
/// ```
pub fn write(weights: &[f32; BLOCK]) -> (u8, [u8; BLOCK / 2]) {
    todo!()
}

/// And back: the weights that a block stands for. Each is exact: an f32 holds it.
pub fn read(scale: u8, codes: &[u8; BLOCK / 2]) -> [f32; BLOCK] {
    todo!()
}

/// The numbers of codes 0 to 7. Codes 8 to 15 are the same with a minus.
pub const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// The code of E2M1 nearest to `x`. It comes with the exercise, and is right.
pub fn nearest(x: f32) -> u8 {
    let magnitude = x.abs().min(6.0);
    let distance = |code: &u8| ((MAGNITUDES[usize::from(*code)] - magnitude).abs(), code % 2);
    let code = (0..8).min_by(|a, b| distance(a).partial_cmp(&distance(b)).expect("no NaN"));
    code.unwrap_or(0) | if x < 0.0 { 8 } else { 0 }
}

/// `2^exponent`, from -127 to 127. It comes with the exercise, and is right.
pub fn power_of_two(exponent: i32) -> f32 {
    // The leading 1 of 2^-127 is one place to the right of the fraction's first.
    f32::from_bits(if exponent == -127 {
        1 << 22
    } else {
        ((exponent + 127) as u32) << 23
    })
}
