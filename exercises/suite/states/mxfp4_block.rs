use super::mxfp4_block::mxfp4_block;
use crate::support::{Case, Random};

/// What the lower three bits are.
const MAGNITUDES: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

fn expected(scale: u8, block: &[u8; 16]) -> [f32; 32] {
    std::array::from_fn(|i| {
        let bits = block[i / 2] >> (i % 2 * 4) & 0xf;
        let number = MAGNITUDES[usize::from(bits % 8)] * 2f64.powi(i32::from(scale) - 127);
        (if bits < 8 { number } else { -number }) as f32
    })
}

#[track_caller]
fn check(rule: &str, scale: u8, block: &[u8; 16]) {
    let case = Case::rule(rule).given("scale", scale).given("block", format!("{block:02x?}"));
    let (expected, found) = (expected(scale, block), mxfp4_block(scale, block));
    if let Some(i) = (0..32).find(|&i| expected[i] != found[i]) {
        let number = |numbers: &[f32; 32]| format!("number {i} = {:?}", numbers[i]);
        case.told(false, &number(&expected), &number(&found));
    }
}

/// The same four bits, as all numbers.
fn all(bits: u8) -> [u8; 16] {
    [bits << 4 | bits; 16]
}

#[test]
fn exponents_above_0() {
    let rule = "with an exponent of 1, 2 or 3 the number is 2^(e-1) * (1 + fraction / 2)";
    for bits in 2..8 {
        check(rule, 127, &all(bits));
    }
}

#[test]
fn an_exponent_of_0() {
    let rule = "with an exponent of 0 there is no 1 before the fraction: 0 and 0.5";
    for bits in [0, 1] {
        check(rule, 127, &all(bits));
    }
}

#[test]
fn the_sign() {
    let rule = "the upper bit is the sign, and the other three mean the same with it";
    for bits in [9, 10, 15] {
        check(rule, 127, &all(bits));
    }
}

#[test]
fn the_lower_half_is_first() {
    let rule =
        "the lower half of a byte is the first of its two numbers, and the upper half the next";
    check(rule, 127, &[0x72; 16]);
    let mut block = [0; 16];
    (block[0], block[15]) = (0x72, 0x9f);
    check(rule, 127, &block);
}

#[test]
fn the_scale() {
    let rule = "all numbers are multiplied by 2^(scale - 127)";
    for scale in [128, 126, 120, 140] {
        check(rule, scale, &[0x72; 16]);
    }
}

#[test]
fn any_block() {
    let mut random = Random::new(67);
    for _ in 0..200 {
        let block = std::array::from_fn(|_| random.below(256) as u8);
        check("each number by its own bits", 100 + random.below(60) as u8, &block);
    }
}

#[test]
fn limit_the_smallest_scale() {
    let rule = "a scale of 0 is 2^-127, which an f32 holds without its leading 1";
    check(rule, 0, &[0x72; 16]);
    check(rule, 0, &[0x19; 16]);
    check("the greatest scale here", 250, &[0xf7; 16]);
}
