//! A block of MXFP4, written and read back.
//!
//! Why: the exponent of an f32 is the power of two that we look for, so we read it from the bits. The greatest weight
//! is then 4 to 8 scales: in the last row of E2M1's numbers, or a little beyond it.
//!
//! What it costs: 17 bytes for 32 weights, 4.25 bits each. A scale in f16 would take a whole byte more, and reach the
//! greatest weight exactly. This one may be almost twice as fine or as coarse as the block needs, and weights above 6
//! scales are cut.
//!
//! A common wrong turn: `log2().floor()`. The logarithm is rounded, and just below a power of two it is rounded up to a
//! whole number.

/// The weights of a block.
pub const BLOCK: usize = 32;

/// The scale and the codes of a block.
pub fn write(weights: &[f32; BLOCK]) -> (u8, [u8; BLOCK / 2]) {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    // The exponent of an f32, with its 127.
    let exponent = (greatest.to_bits() >> 23) as u8;
    let stored = exponent.saturating_sub(2);
    let scale = power_of_two(i32::from(stored) - 127);
    let code = |i: usize| nearest(weights[i] / scale);
    (stored, std::array::from_fn(|i| code(2 * i) | code(2 * i + 1) << 4))
}

/// The weights that a block stands for.
pub fn read(scale: u8, codes: &[u8; BLOCK / 2]) -> [f32; BLOCK] {
    let scale = power_of_two(i32::from(scale) - 127);
    std::array::from_fn(|i| {
        let code = codes[i / 2] >> (i % 2 * 4) & 15;
        let weight = MAGNITUDES[usize::from(code & 7)] * scale;
        if code < 8 { weight } else { -weight }
    })
}

/// The numbers of codes 0 to 7. Codes 8 to 15 are the same with a minus.
pub const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// The code of E2M1 nearest to `x`.
pub fn nearest(x: f32) -> u8 {
    let magnitude = x.abs().min(6.0);
    let distance = |code: &u8| ((MAGNITUDES[usize::from(*code)] - magnitude).abs(), code % 2);
    let code = (0..8).min_by(|a, b| distance(a).partial_cmp(&distance(b)).expect("no NaN"));
    code.unwrap_or(0) | if x < 0.0 { 8 } else { 0 }
}

/// `2^exponent`, from -127 to 127.
pub fn power_of_two(exponent: i32) -> f32 {
    // The leading 1 of 2^-127 is one place to the right of the fraction's first.
    f32::from_bits(if exponent == -127 {
        1 << 22
    } else {
        ((exponent + 127) as u32) << 23
    })
}
