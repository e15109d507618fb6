use super::nan_in_e4m3::to_e4m3;
use crate::support::{Case, Random};

/// The number of a code.
fn number(code: u8) -> f32 {
    let (exponent, fraction) = (i32::from(code >> 3 & 15), f32::from(code & 7));
    let magnitude = match (exponent, code & 7) {
        (15, 7) => f32::NAN,
        (0, _) => fraction * 2_f32.powi(-9),
        _ => (8.0 + fraction) * 2_f32.powi(exponent - 10),
    };
    if code < 128 { magnitude } else { -magnitude }
}

/// The code of the nearest number; of two, the even one. By trying all.
fn nearest(x: f32) -> u8 {
    let sign = if x.is_sign_negative() { 0x80 } else { 0 };
    if x.is_nan() {
        return sign | 0x7f;
    }
    let magnitude = x.abs().min(448.0);
    let key = |code: &u8| ((number(*code) - magnitude).abs(), code % 2);
    let code = (0..0x7f).min_by(|a, b| key(a).partial_cmp(&key(b)).expect("no NaN"));
    sign | code.expect("codes")
}

#[track_caller]
fn check(rule: &str, x: f32) {
    let case = Case::rule(rule).given("x", x);
    let (expected, found) = (nearest(x), to_e4m3(x));
    let is_zero = (expected | found) & 0x7f == 0;
    let are_nan = number(expected).is_nan() && number(found).is_nan();
    let of = |code: u8| format!("{code:#04x}, the code of {}", number(code));
    case.told(expected == found || is_zero || are_nan, &of(expected), &of(found));
}

#[test]
fn every_number_has_its_code() {
    for code in (0..=255).filter(|code| !number(*code).is_nan()) {
        check("a number that E4M3 has keeps its value", number(code));
    }
}

#[test]
fn the_nearest_number() {
    let mut random = Random::new(4);
    for _ in 0..2000 {
        let size = 2_f32.powi(random.below(18) as i32 - 9);
        check(
            "the nearest number, above or below",
            random.float(-size, size).clamp(-448.0, 448.0),
        );
    }
}

#[test]
fn ties_go_to_the_even_code() {
    let rule = "if two numbers are equally near, the one whose code is even";
    for code in 0..0x7e {
        let middle = (number(code) + number(code + 1)) / 2.0;
        check(rule, middle);
        check(rule, -middle);
    }
}

#[test]
fn small_numbers() {
    let rule = "below 2^-6 the numbers are multiples of 2^-9";
    for x in [
        0.0, 0.02, 0.01, -0.007, 0.0019, 0.0011, 0.0009, 1e-30, -1e-45, 0.0156,
    ] {
        check(rule, x);
    }
}

#[test]
fn whatever_is_greater_becomes_448() {
    let rule = "whatever is greater than 448 becomes 448, and only NaN becomes NaN";
    for x in [
        449.0, 450.0, 463.0, 464.0, 465.0, 470.0, 479.0, 480.0, 500.0, 1000.0, 1e30,
    ] {
        check(rule, x);
        check(rule, -x);
    }
}

#[test]
fn infinity_and_nan() {
    check("there is no infinity: it becomes 448", f32::INFINITY);
    check("there is no infinity: it becomes 448", f32::NEG_INFINITY);
    check("NaN stays NaN", f32::NAN);
}
