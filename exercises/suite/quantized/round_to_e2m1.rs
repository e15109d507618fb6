use super::round_to_e2m1::round_to_e2m1;
use crate::support::{Case, Random};

const MAGNITUDES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// The number of a code.
fn number(code: u8) -> f32 {
    let magnitude = MAGNITUDES[usize::from(code & 7)];
    if code & 8 == 0 { magnitude } else { -magnitude }
}

/// The nearest magnitude; of two, the one of the even code.
fn nearest(x: f32) -> f32 {
    let magnitude = x.abs().min(6.0);
    let distance = |code: &usize| (MAGNITUDES[*code] - magnitude).abs();
    let best =
        (0..8).min_by(|a, b| distance(a).total_cmp(&distance(b)).then((a % 2).cmp(&(b % 2))));
    MAGNITUDES[best.unwrap_or(0)].copysign(x)
}

#[track_caller]
fn check(rule: &str, x: f32) {
    let case = Case::rule(rule).given("x", x);
    let (expected, code) = (nearest(x), round_to_e2m1(x));
    case.told(code < 16, "a code of four bits", &format!("{code}"));
    let found = number(code);
    let of = |number: f32| format!("the code of {number}");
    case.told(found == expected, &of(expected), &format!("{code}, {}", of(found)));
}

#[test]
fn numbers_that_there_are() {
    for magnitude in MAGNITUDES {
        check("a number that E2M1 has keeps its value", magnitude);
    }
}

#[test]
fn the_sign() {
    for magnitude in [0.5, 1.0, 3.0, 6.0] {
        check("a negative number has the code of its magnitude, plus 8", -magnitude);
    }
}

#[test]
fn the_nearest_number() {
    let rule = "the nearest number, above or below";
    for x in [
        0.6, -1.4, 2.6, 0.3, 0.2, 0.9, 1.1, 2.4, 3.4, 3.6, -4.9, -5.1, 5.9,
    ] {
        check(rule, x);
    }
}

#[test]
fn small_numbers() {
    let rule = "below 1 the numbers are 0 and 0.5, as far apart as 1 and 1.5";
    for x in [0.01, 0.24, 0.26, 0.49, 0.51, 0.74, 0.76, -0.3, -1e-30] {
        check(rule, x);
    }
}

#[test]
fn ties_go_to_the_even_code() {
    let rule = "if two numbers are equally near, the one whose code is even";
    for pair in MAGNITUDES.windows(2) {
        let middle = (pair[0] + pair[1]) / 2.0;
        check(rule, middle);
        check(rule, -middle);
    }
}

#[test]
fn beyond_6() {
    let rule = "whatever is beyond 6 becomes 6, whatever is below -6 becomes -6";
    for x in [
        6.1,
        6.9,
        7.0,
        7.1,
        8.0,
        9.0,
        100.0,
        -6.5,
        -12.0,
        1e30,
        f32::INFINITY,
    ] {
        check(rule, x);
    }
}

#[test]
fn any_number() {
    let mut random = Random::new(48);
    for _ in 0..2000 {
        check("the nearest number, above or below", random.float(-7.0, 7.0));
    }
}
