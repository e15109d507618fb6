//! A number in four bits of floating point.

/// E2M1 has 16 codes of four bits: a sign, two bits of an exponent, and one of a fraction. Codes 0 to 7 stand for 0,
/// 0.5, 1, 1.5, 2, 3, 4 and 6, and codes 8 to 15 for the same with a minus. Return the code whose number is nearest
/// to `x`.
///
/// - If two numbers are equally near, take the one whose code is even.
/// - Beyond 6 there is nothing: every greater number becomes 6, infinity too. It is the same below -6.
/// - There are two zeros, 0 and 8. Where a number becomes 0, either will do.
/// - `x` is not NaN.
///
/// ```text
/// x      0.6   -1.4   2.6   0.75   5.0   100
/// code   1     11     5     2      6     7
/// is     0.5   -1.5   3     1      4     6
///
/// 0.75 is as near to 0.5, code 1, as to 1, code 2
/// ```
pub fn round_to_e2m1(x: f32) -> u8 {
    todo!()
}
