use super::group_product::{GROUP, Group, product};
use crate::support::{Case, Random};

fn group(scale: f32, integers: [i8; GROUP]) -> Group {
    Group { scale, integers }
}

/// The product must be bit-identical to the expected one.
#[track_caller]
fn check(rule: &str, groups: &[Group], x: &[f32], expected: f32) {
    let case = Case::rule(rule).given("groups", groups).given("x", x);
    let found = product(groups, x);
    let shown = |number: f32| format!("{number:e}, bits {:#010x}", number.to_bits());
    case.equal(shown(expected), shown(found));
}

#[test]
fn a_worked_example() {
    let groups = [group(0.25, [4, -8, 1, 3])];
    check("the sum of a group, times its scale", &groups, &[1.0, 2.0, -1.0, 0.5], -2.875);
}

#[test]
fn each_group_has_its_scale_and_its_numbers() {
    let groups = [group(0.5, [1, 2, 0, 0]), group(10.0, [0, 0, 3, -1])];
    let x = [1.0, 1.0, 9.0, 9.0, 9.0, 9.0, 2.0, 1.0];
    check("each group has its own scale and its own part of x", &groups, &x, 51.5);
}

#[test]
fn without_groups_the_output_is_zero() {
    check("an output begins at 0", &[], &[], 0.0);
    check("0 + -0 is 0, and not -0", &[group(1.0, [-1; GROUP])], &[0.0; GROUP], 0.0);
}

#[test]
fn the_scale_comes_last() {
    // 0.1 is rounded in f32, and 10 times it is rounded again; 10 + 20 is exact.
    let groups = [group(0.1, [3, 3, 3, 3])];
    let x = [1.1, -1.1, 1.1, 0.7];
    let mut sum = 0.0_f32;
    for x in x {
        sum = 3.0_f32.mul_add(x, sum);
    }
    let rule = "integers times x are summed first, and the sum is scaled once";
    check(rule, &groups, &x, 0.1_f32.mul_add(sum, 0.0));
}

#[test]
fn products_are_taken_in_order() {
    let big = 16_777_216.0; // 2^24: with 1 more it is rounded to itself
    let rule = "within a group from the first to the last: 2^24, + 1, - 2^24, + 1 is 1";
    check(rule, &[group(1.0, [1, 1, -1, 1])], &[big, 1.0, big, 1.0], 1.0);
    let rule = "groups from the first to the last: 2^24, + 1, - 2^24, + 1 is 1";
    let groups = [1, 1, -1, 1].map(|integer| group(1.0, [integer, 0, 0, 0]));
    let mut x = [0.0; 4 * GROUP];
    [x[0], x[4], x[8], x[12]] = [big, 1.0, big, 1.0];
    check(rule, &groups, &x, 1.0);
}

#[test]
fn a_group_begins_its_sum_anew() {
    let big = 16_777_216.0;
    let groups = [group(1.0, [1, 0, 0, 0]), group(1.0, [-1, 1, 0, 0])];
    let x = [big, 0.0, 0.0, 0.0, big, 1.0, 0.0, 0.0];
    let rule = "the sum of each group begins at 0: -2^24 + 1 is exact, and 2^24 more is 1";
    check(rule, &groups, &x, 1.0);
}

#[test]
fn no_product_is_skipped() {
    for (integers, x) in [
        ([0, 1, 0, 0], [f32::INFINITY, 1.0, 0.0, 0.0]),
        ([1, 1, 0, 1], [1.0, 1.0, f32::NAN, 1.0]),
    ] {
        let groups = [group(1.0, integers)];
        let case = Case::rule("0 times infinity is NaN: a broken `x` must be seen in the output")
            .given("groups", groups)
            .given("x", x);
        case.holds(product(&groups, &x).is_nan(), "NaN", product(&groups, &x));
    }
    let groups = [group(0.0, [1; GROUP])];
    let x = [f32::INFINITY; GROUP];
    let case =
        Case::rule("a scale of 0 times infinity is NaN too").given("groups", groups).given("x", x);
    case.holds(product(&groups, &x).is_nan(), "NaN", product(&groups, &x));
}

#[test]
fn a_multiply_add_is_rounded_once() {
    // 3 * (1 + 2^-23) has one bit more than an f32, which a product alone would lose.
    let next = 1.0 + f32::EPSILON;
    let groups = [group(1.0, [-3, 3, 0, 0])];
    let rule = "by `mul_add`: integer * x is not rounded before it is added";
    check(rule, &groups, &[1.0, next, 0.0, 0.0], 3.0 * f32::EPSILON);
    let groups = [group(-1.0, [1, 0, 0, 0]), group(next, [1, 0, 0, 0])];
    let x = [1.0, 0.0, 0.0, 0.0, next, 0.0, 0.0, 0.0];
    let rule = "by `mul_add`: scale * sum is not rounded before it is added";
    check(rule, &groups, &x, next.mul_add(next, -1.0));
}

#[test]
fn any_numbers() {
    let mut random = Random::new(3);
    for count in [1, 2, 7, 30] {
        let mut groups = Vec::new();
        for _ in 0..count {
            let integers = [0; GROUP].map(|_: i8| (random.below(255) as i16 - 127) as i8);
            groups.push(group(random.float(-0.02, 0.02), integers));
        }
        let x: Vec<f32> = (0..count * GROUP).map(|_| random.float(-3.0, 3.0)).collect();
        let mut expected = 0.0_f32;
        for (group, x) in groups.iter().zip(x.chunks(GROUP)) {
            let mut sum = 0.0_f32;
            for (integer, x) in group.integers.iter().zip(x) {
                sum = f32::from(*integer).mul_add(*x, sum);
            }
            expected = group.scale.mul_add(sum, expected);
        }
        check("sums in the order that is described", &groups, &x, expected);
    }
}
