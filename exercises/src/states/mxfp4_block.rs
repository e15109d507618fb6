//! A block of MXFP4.

/// gpt-oss is published with experts in MXFP4: blocks of 32 numbers of 4 bits, and for each block one byte,
/// the power of two that they are multiplied by. Decode a block.
///
/// - A byte has two numbers: the lower four bits are the first, the upper four the second.
/// - Of the four bits, the upper one is the sign, 1 for minus. The next two are the exponent, the last is
///   the fraction.
/// - With an exponent `e` of 1, 2 or 3 the number is `2^(e-1) * (1 + fraction / 2)`. With 0 it is
///   `fraction / 2`.
/// - The scale is `2^(scale - 127)`. It is at most 250 here, so that no number overflows. It may be 0.
/// - Each result is exact: an f32 holds it.
///
/// ```text
/// scale 128: times 2      byte 0x72: 2, then 7
///
/// 2 is 0 01 0: 2^0 * 1   = 1, times 2 = 2
/// 7 is 0 11 1: 2^2 * 1.5 = 6, times 2 = 12
/// ```
pub fn mxfp4_block(scale: u8, block: &[u8; 16]) -> [f32; 32] {
    todo!()
}
