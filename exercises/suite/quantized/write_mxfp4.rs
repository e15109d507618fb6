use super::write_mxfp4::{BLOCK, MAGNITUDES, nearest, power_of_two, read, write};
use crate::support::{Case, Random};

const OF_SCALE: &str =
    "the scale is 2^(e - 2), where 2^e is the power of two at or below the greatest magnitude";

/// The exponent of the scale, as it is stored.
fn scale_of(weights: &[f32; BLOCK]) -> u8 {
    let greatest = weights.iter().fold(0.0_f64, |greatest, w| greatest.max(f64::from(w.abs())));
    let exponent = (-127..=127).rev().find(|e| 2f64.powi(*e) <= greatest).unwrap_or(-127);
    (exponent - 2 + 127).max(0) as u8
}

/// A block that begins so, and goes on with zeros.
fn block(first: &[f32]) -> [f32; BLOCK] {
    let mut block = [0.0; BLOCK];
    block[..first.len()].copy_from_slice(first);
    block
}

#[track_caller]
fn check_scale(rule: &str, weights: &[f32; BLOCK]) {
    let case = Case::rule(rule).given("weights", weights);
    case.equal(("scale", scale_of(weights)), ("scale", write(weights).0));
}

/// What is stored, code by code.
#[track_caller]
fn check(rule: &str, weights: &[f32; BLOCK]) {
    check_scale(OF_SCALE, weights);
    let case = Case::rule(rule).given("weights", weights);
    let (stored, codes) = write(weights);
    let scale = power_of_two(i32::from(stored) - 127);
    let code = |weight: &f32| nearest(weight / scale);
    // The sign of a zero is not told apart.
    let same = |a: u8, b: u8| a == b || (a | b) & 7 == 0;
    for (i, weight) in weights.iter().enumerate() {
        let found = codes[i / 2] >> (i % 2 * 4) & 15;
        let of = |code: u8| format!("code {i} = {code}");
        case.told(same(code(weight), found), &of(code(weight)), &of(found));
    }
}

#[test]
fn a_worked_example() {
    let rule =
        "each code is the nearest to weight / scale, the first of two in the lower half of a byte";
    check(rule, &block(&[0.9, -2.0, 0.35, 0.65]));
}

#[test]
fn the_scale_is_a_power_of_two() {
    for greatest in [1.0, 1.5, 2.0, 3.9, 4.0, 6.0, 7.9, 0.26, 0.011, 1000.0] {
        check_scale(OF_SCALE, &block(&[0.1 * greatest, greatest]));
        check_scale(OF_SCALE, &block(&[-greatest, 0.1 * greatest]));
    }
}

#[test]
fn codes_are_two_in_a_byte() {
    let rule = "the lower half of a byte is the first of two neighbours, the upper half the second";
    let weights = std::array::from_fn(|i| MAGNITUDES[i % 8] * if i < 16 { 1.0 } else { -1.0 });
    check(rule, &weights);
}

#[test]
fn weights_beyond_6_scales() {
    let rule = "a weight beyond 6 times the scale becomes 6 times the scale";
    check(rule, &block(&[1.9, -1.6, 1.2, 0.4]));
    check(rule, &block(&[-7.99, 7.0]));
}

#[test]
fn a_block_of_zeros() {
    let case = Case::rule("if all weights are 0, so is what is read").given("weights", "32 zeros");
    let (scale, codes) = write(&[0.0; BLOCK]);
    case.told(
        codes.iter().all(|codes| codes & 0x77 == 0),
        "codes of zeros",
        &format!("{codes:02x?}"),
    );
    case.equal([0.0; BLOCK], read(scale, &codes));
}

#[test]
fn what_is_read() {
    let mut random = Random::new(7);
    for scale in [127, 126, 128, 120, 140] {
        let codes = std::array::from_fn(|_| random.below(256) as u8);
        let rule = "a weight is the number of its code, times 2^(scale - 127)";
        let case = Case::rule(rule).given("scale", scale).given("codes", format!("{codes:02x?}"));
        let weight = |i: usize| {
            let code = codes[i / 2] >> (i % 2 * 4) & 15;
            let magnitude = MAGNITUDES[usize::from(code & 7)] * power_of_two(scale as i32 - 127);
            if code < 8 { magnitude } else { -magnitude }
        };
        let expected: [f32; BLOCK] = std::array::from_fn(weight);
        case.close(&expected, &read(scale, &codes), 0.0);
    }
}

#[test]
fn any_block() {
    let mut random = Random::new(48);
    for _ in 0..300 {
        let size = 10_f32.powi(random.below(7) as i32 - 4);
        let weights = std::array::from_fn(|_| random.float(-size, size));
        check("each code is the nearest to weight / scale", &weights);
    }
}

#[test]
fn limit_just_below_a_power_of_two() {
    let rule = "the f32 below a power of two has the exponent of the power before: count bits instead of rounding a logarithm";
    for exponent in [-20, -3, 10, 24, 60] {
        let below = f32::from_bits(power_of_two(exponent).to_bits() - 1);
        check_scale(rule, &block(&[below]));
        check_scale("a power of two has its own exponent", &block(&[power_of_two(exponent)]));
    }
}

#[test]
fn limit_tiny_and_huge_weights() {
    let rule = "an exponent below -127 is stored as 0";
    for greatest in [1e-37, 2e-38, f32::MIN_POSITIVE, 1e-40, 1e-45] {
        check_scale(rule, &block(&[greatest]));
        check(rule, &block(&[greatest, -0.4 * greatest]));
    }
    check("the greatest weights have a scale as well", &block(&[f32::MAX, -1e38, 5e37]));
    let case = Case::rule("a scale of 0 is 2^-127").given("scale", 0);
    case.equal(6.0 * power_of_two(-127), read(0, &[7; BLOCK / 2])[0]);
}
