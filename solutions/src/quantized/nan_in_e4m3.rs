//! A number that was none becomes the greatest.
//!
//! Why: the limit was at 480, where the next number would be if its code were not NaN's. From 464 on, halfway between
//! both, numbers were rounded up to that code. Limit first, to the greatest number that there is, and round then: no
//! rounding leads out of the range.
//!
//! What it costs: nothing. There is one comparison as before.
//!
//! A common wrong turn: to limit with `min` before asking for NaN. `f32::min` returns its other argument for NaN, so a
//! mistake elsewhere would be hidden behind a 448.

/// The code of E4M3 that is nearest to `x`.
pub fn to_e4m3(x: f32) -> u8 {
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    if x.is_nan() {
        return sign | 0x7f;
    }
    let magnitude = x.abs().min(448.0);
    // The exponent of an f32 has 127 added to it. Below 2^-6, steps stay as large as there.
    let exponent = ((magnitude.to_bits() >> 23) as i32 - 127).max(-6);
    let steps = (magnitude / 2_f32.powi(exponent - 3)).round_ties_even();
    // The codes of a power of two and the next are 8 apart.
    sign | ((exponent + 6) as u8 * 8 + steps as u8)
}
