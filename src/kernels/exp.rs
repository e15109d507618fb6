//! `exp`, and the activation functions made of it, in lanes.
//!
//! A library's `exp` may differ in the last bit between its vector body and its scalar remainder,
//! and from one platform to the next. This one is plain arithmetic, the same in every lane.

use super::simd::fma;

/// `exp(x)`, to within 2 units in the last place; 0 below -87.3, where the result would be
/// subnormal, and infinity above 88.7.
///
/// `x = n ln 2 + r` with a whole `n` and `|r| <= ln 2 / 2`; then `exp(x) = 2^n exp(r)`, and
/// `exp(r)` is its Taylor polynomial of degree 7. `ln 2` is split into two parts, the first with so
/// few digits that its product with `n` is exact (Cody and Waite, Software Manual for the
/// Elementary Functions, 1980).
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
    const LOWEST: f32 = -87.336_54;
    const HIGHEST: f32 = 88.722_83;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    /// Adding this to a small number leaves no bits for a fraction: the sum is rounded to a whole
    /// number, which is in its lowest bits.
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23

    let shifted = fma(x, std::f32::consts::LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = fma(n, -LN_2_LOW, fma(n, -LN_2_HIGH, x));
    let mut sum = 1.0 / 5040.0;
    for coefficient in [
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        sum = fma(sum, r, coefficient);
    }
    // 2^n as two factors: 2^128 itself is not an f32.
    let n = shifted.to_bits().wrapping_sub(ROUND.to_bits()) as i32;
    let half = n >> 1;
    let power = |n: i32| f32::from_bits(n.wrapping_add(127).cast_unsigned() << 23);
    let value = sum * power(half) * power(n.wrapping_sub(half));
    let value = if x > HIGHEST { f32::INFINITY } else { value };
    if x < LOWEST { 0.0 } else { value }
}

/// `1 / (1 + exp(-x))`
#[inline(always)]
pub(super) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// `x * sigmoid(x)`
#[inline(always)]
pub(super) fn silu(x: f32) -> f32 {
    x / (1.0 + exp(-x))
}

/// `x * sigmoid(sharpness * x)`
#[inline(always)]
pub(super) fn sharp_silu(x: f32, sharpness: f32) -> f32 {
    x / (1.0 + exp(-sharpness * x))
}

/// `tanh(x)`, to within 2e-7 of its value: near 0 its Taylor polynomial, where `1 - exp(-2x)` would
/// lose digits.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let size = x.abs();
    let square = x * x;
    let mut near = -1382.0 / 155_925.0;
    for coefficient in [62.0 / 2835.0, -17.0 / 315.0, 2.0 / 15.0, -1.0 / 3.0, 1.0] {
        near = fma(near, square, coefficient);
    }
    let rest = exp(-2.0 * size);
    let far = (1.0 - rest) / (1.0 + rest);
    let value = if size < 0.35 { size * near } else { far };
    if x < 0.0 { -value } else { value }
}

/// The `tanh` approximation of GELU: `x / 2 (1 + tanh u) = x sigmoid(2u)`.
#[inline(always)]
pub(super) fn gelu_tanh(x: f32) -> f32 {
    /// `2 sqrt(2 / pi)`
    const SCALE: f32 = 1.595_769_2;
    let u = SCALE * fma(x * x, 0.044_715 * x, x);
    x / (1.0 + exp(-u))
}

/// GELU: `x` times the CDF of the standard normal distribution at `x`.
///
/// Uses the rational approximation 7.1.26 of Abramowitz and Stegun, Handbook of Mathematical
/// Functions, 1964: its error is below 1.5e-7.
#[inline(always)]
pub(super) fn gelu(x: f32) -> f32 {
    let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / fma(0.327_591_1, z, 1.0);
    let mut sum = 1.061_405_4;
    for coefficient in [-1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6] {
        sum = fma(sum, t, coefficient);
    }
    let tail = 0.5 * sum * t * exp(-z * z); // the upper tail above |x|
    if x < 0.0 { x * tail } else { x - x * tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_is_near_the_true_one() {
        for i in -40_000..40_000 {
            let x = i as f32 / 4000.0;
            let (found, expected) = (f64::from(tanh(x)), f64::from(x).tanh());
            assert!((found - expected).abs() <= 2e-7 * expected.abs(), "{x}: {found}, {expected}");
        }
        assert_eq!((tanh(f32::INFINITY), tanh(f32::NEG_INFINITY)), (1.0, -1.0));
    }

    #[test]
    fn exp_is_near_the_true_one() {
        let mut x = -87.3_f32;
        while x < 88.7 {
            let (found, expected) = (exp(x), f64::from(x).exp() as f32);
            let ulps = found.to_bits().abs_diff(expected.to_bits());
            assert!(ulps <= 2, "exp({x}) = {found}, not {expected}");
            x += 0.001_37;
        }
    }

    #[test]
    fn exp_at_its_ends() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(f32::NEG_INFINITY).to_bits(), 0);
        assert_eq!(exp(-1e30).to_bits(), 0);
        assert_eq!(exp(f32::INFINITY), f32::INFINITY);
        assert_eq!(exp(89.0), f32::INFINITY);
        assert!(exp(88.72).is_finite());
        assert!(exp(f32::NAN).is_nan());
    }

    /// The CDF of the standard normal distribution at `x`, by integrating its density numerically.
    fn share_below(x: f64) -> f64 {
        let steps = 20_000;
        let width = (x + 10.0) / f64::from(steps);
        let density = |i| (-(width * (f64::from(i) + 0.5) - 10.0).powi(2) / 2.0).exp();
        (0..steps).map(density).sum::<f64>() * width / std::f64::consts::TAU.sqrt()
    }

    #[test]
    fn activations_are_near_their_formulas() {
        for i in -80..=80 {
            let x = i as f32 / 10.0 + 0.013;
            let wide = f64::from(x);
            let near = |found: f32, expected: f64| {
                assert!((f64::from(found) - expected).abs() < 2e-6, "{x}: {found}, not {expected}");
            };
            near(silu(x), wide / (1.0 + (-wide).exp()));
            near(gelu(x), wide * share_below(wide));
            let u = (2.0 / std::f64::consts::PI).sqrt() * (wide + 0.044715 * wide.powi(3));
            near(gelu_tanh(x), wide / 2.0 * (1.0 + u.tanh()));
        }
        for function in [silu, gelu, gelu_tanh] {
            assert_eq!(function(200.0), 200.0);
            assert_eq!(function(-200.0).abs(), 0.0);
        }
    }
}
