use super::integer_product::{GROUP, Group, four, product};
use crate::support::{Case, Random};

/// A group that begins with these integers; the others are 0.
fn group(scale: f32, first: &[i8]) -> Group {
    let mut integers = [0; GROUP];
    integers[..first.len()].copy_from_slice(first);
    Group { scale, integers }
}

/// The product must be bit-identical to the expected one.
#[track_caller]
fn check(rule: &str, weights: &[Group], x: &[Group], expected: f32) {
    let case = Case::rule(rule).given("weights", weights).given("x", x);
    let shown = |number: f32| format!("{number:e}, bits {:#010x}", number.to_bits());
    case.equal(shown(expected), shown(product(weights, x)));
}

#[test]
fn a_worked_example() {
    let weights = [group(0.25, &[4, -8, 1, 3])];
    let x = [group(0.5, &[2, 4, -2, 1])];
    check("the sum of integers, times both scales", &weights, &x, -2.875);
}

#[test]
fn each_group_has_its_scales() {
    let weights = [group(0.5, &[1, 2]), group(2.0, &[3])];
    let x = [group(4.0, &[1, 1]), group(0.25, &[8])];
    check("0.5 * 4 * 3 + 2 * 0.25 * 24", &weights, &x, 18.0);
    let x = [group(-4.0, &[1, 1]), group(0.0, &[8])];
    check("a scale may be negative or 0", &weights, &x, -6.0);
}

#[test]
fn without_groups_the_output_is_zero() {
    check("an output begins at 0", &[], &[], 0.0);
    let (weights, x) = ([group(-1.0, &[])], [group(1.0, &[])]);
    check("0 + -0 is 0, and not -0", &weights, &x, 0.0);
}

#[test]
fn all_integers_of_a_group_count() {
    let ones = [Group { scale: 1.0, integers: [1; GROUP] }];
    check("32 products of 1 are 32", &ones, &ones, 32.0);
    let x = [Group { scale: 1.0, integers: std::array::from_fn(|i| i as i8) }];
    check("1 to 31 together are 496", &ones, &x, 496.0);
}

#[test]
fn no_sum_overflows() {
    let all = |integer: i8| [Group { scale: 1.0, integers: [integer; GROUP] }];
    for (weight, x, expected) in [
        (127, 127, 516_128.0),
        (-128, 127, -520_192.0),
        (-128, -128, 524_288.0),
    ] {
        let rule = format!("32 times {weight} * {x} is {expected}, which needs more than 16 bits");
        check(&rule, &all(weight), &all(x), expected);
    }
    let rule = "two products of -128 * -128 are 32768: one more than an i16 holds";
    check(rule, &[group(1.0, &[-128, -128])], &[group(1.0, &[-128, -128])], 32_768.0);
    let rule = "sums of groups are added in f32, and may be large";
    let (weights, x) = ([all(-128)[0]; 5000], [all(-128)[0]; 5000]);
    check(rule, &weights, &x, 5000.0 * 524_288.0);
}

#[test]
fn scales_are_multiplied_first_and_rounded_once() {
    let next = 1.0 + f32::EPSILON;
    let rule = "the product of both scales is an f32; then one `mul_add`";
    let (weights, x) = ([group(0.1, &[127, 1])], [group(0.3, &[127, 5])]);
    let scale = 0.1_f32 * 0.3;
    check(rule, &weights, &x, scale.mul_add(16_134.0, 0.0));
    let weights = [group(-1.0, &[3]), group(next, &[3])];
    let x = [group(1.0, &[1]), group(1.0, &[1])];
    let rule = "by `mul_add`: scale * sum is not rounded before it is added";
    check(rule, &weights, &x, 3.0 * f32::EPSILON);
}

#[test]
fn groups_are_taken_in_order() {
    let big = 16_777_216.0; // 2^24: with 1 more it is rounded to itself
    let weights = [big, 1.0, -big, 1.0].map(|scale| group(scale, &[1]));
    let x = [group(1.0, &[1]); 4];
    check(
        "groups from the first to the last: 2^24, + 1, - 2^24, + 1 is 1",
        &weights,
        &x,
        1.0,
    );
}

#[test]
fn any_numbers() {
    let mut random = Random::new(13);
    for count in [1, 2, 7, 30] {
        let mut groups = || -> Vec<Group> {
            let mut group = || Group {
                scale: random.float(-0.02, 0.02),
                integers: std::array::from_fn(|_| (random.below(256) as i16 - 128) as i8),
            };
            (0..count).map(|_| group()).collect()
        };
        let (weights, x) = (groups(), groups());
        let mut expected = 0.0_f32;
        for (weights, x) in weights.iter().zip(&x) {
            let products = weights.integers.iter().zip(x.integers);
            let sum: i32 = products.map(|(weight, x)| i32::from(*weight) * i32::from(x)).sum();
            expected = (weights.scale * x.scale).mul_add(sum as f32, expected);
        }
        check("integers are summed exactly, then scaled", &weights, &x, expected);
    }
}

#[test]
fn four_products_at_a_time() {
    for (sum, bytes, x, expected) in [
        (100, [132, 120, 129, 131], [2, 4, -2, 1], 77),
        (0, [128; 4], [127, -128, 5, 1], 0),
        (0, [0; 4], [-128; 4], 65_536),
        (0, [255; 4], [127; 4], 64_516),
        (-7, [0, 255, 0, 255], [127, -128, 127, -128], -7 - 2 * 128 * 127 - 2 * 127 * 128),
        (1_000_000, [129, 128, 128, 127], [1, 9, 9, 1], 1_000_000),
    ] {
        let case = Case::rule("sum + the four products, each weight being its byte less 128")
            .given("sum", sum)
            .given("bytes", bytes)
            .given("x", x);
        case.equal(expected, four(sum, bytes, x));
    }
}
