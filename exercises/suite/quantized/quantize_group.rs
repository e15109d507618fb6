use super::quantize_group::{dequantize, quantize};
use crate::support::{Case, Random};

fn case(rule: &str, weights: &[f32]) -> Case {
    Case::rule(rule).given("weights", weights)
}

/// Scale and integers of a group. The scale is compared first, by a separate rule: where it is
/// wrong, so are the integers.
#[track_caller]
fn check_group(rule: &str, weights: &[f32], scale: f32, integers: &[i8]) {
    let of_scale =
        "the scale is the greatest magnitude of the group, whatever its sign, divided by 127";
    let case = case(of_scale, weights);
    let found = quantize(weights);
    case.number("scale", scale, found.0, 1e-4 * scale);
    let case = self::case(rule, weights).given("scale", scale);
    case.equal(("integers", integers), ("integers", found.1.as_slice()));
}

#[test]
fn a_worked_example() {
    let rule = "each integer is the nearest to weight / scale";
    check_group(rule, &[0.5, -1.27, 0.02, 0.634], 0.01, &[50, -127, 2, 63]);
}

#[test]
fn the_greatest_magnitude_becomes_the_greatest_integer() {
    let rule = "the greatest magnitude becomes 127 or -127";
    check_group(rule, &[31.75, -1.0, 2.0], 0.25, &[127, -4, 8]);
    check_group(rule, &[-31.75, 1.0, 2.0], 0.25, &[-127, 4, 8]);
    check_group(rule, &[1.0, 2.0, -31.75], 0.25, &[4, 8, -127]);
    check_group(rule, &[-31.75, -1.0, -2.0], 0.25, &[-127, -4, -8]);
}

#[test]
fn integers_are_rounded_to_nearest() {
    let weights = [127.0, 2.6, 2.4, -2.6, -2.4, 0.3, -0.3, 0.7, -0.7];
    let rule = "2.6 is nearest to 3, 2.4 to 2, -2.6 to -3 and -2.4 to -2";
    check_group(rule, &weights, 1.0, &[127, 3, 2, -3, -2, 0, 0, 1, -1]);
}

#[test]
fn a_group_of_zeros_is_zeros() {
    let case = case("if all weights are 0, scale and integers are 0", &[0.0, -0.0, 0.0]);
    let (scale, integers) = quantize(&[0.0, -0.0, 0.0]);
    case.number("scale", 0.0, scale, 0.0);
    case.equal(("integers", vec![0, 0, 0]), ("integers", integers));
}

#[test]
fn one_weight_is_kept() {
    for weight in [3.0, -3.0, 1e-30, -1e30] {
        let case = case("the only weight of a group is 127 or -127 times the scale", &[weight]);
        let (scale, integers) = quantize(&[weight]);
        case.told(scale > 0.0, "a scale above 0", &format!("scale = {scale}"));
        let expected = vec![if weight > 0.0 { 127 } else { -127 }];
        case.equal(("integers", expected), ("integers", integers));
    }
}

#[test]
fn no_weight_is_further_than_half_a_scale() {
    let mut random = Random::new(1);
    for (length, greatest) in [(1, 1.0), (7, 0.02), (32, 3.0), (100, 1e6)] {
        let weights: Vec<f32> = (0..length).map(|_| random.float(-greatest, greatest)).collect();
        let case = case("no weight is further than half a scale from what is stored", &weights);
        let (scale, integers) = quantize(&weights);
        case.equal(("integers", weights.len()), ("integers", integers.len()));
        for (weight, integer) in weights.iter().zip(&integers) {
            let error = (weight - scale * f32::from(*integer)).abs();
            let found = format!("{weight} is {integer} times {scale}");
            case.told(error <= 0.5001 * scale, "an error of at most scale / 2", &found);
        }
        let greatest = integers.iter().map(|integer| integer.unsigned_abs()).max();
        case.equal(("greatest integer", Some(127)), ("greatest integer", greatest));
    }
}

fn check(rule: &str, scales: &[f32], integers: &[i8], group: usize, expected: &[f32]) {
    let case =
        Case::rule(rule).given("scales", scales).given("integers", integers).given("group", group);
    case.close(expected, &dequantize(scales, integers, group), 1e-6);
}

#[test]
fn a_weight_is_its_integer_times_the_scale_of_its_group() {
    let rule = "each weight is its integer times the scale of its group";
    check(rule, &[0.5, 2.0], &[3, -8, 0, 7, 1, -1], 3, &[1.5, -4.0, 0.0, 14.0, 2.0, -2.0]);
    let expected = [1.0, 1.0, 10.0, 10.0, 100.0, 100.0];
    check(rule, &[1.0, 10.0, 100.0], &[1; 6], 2, &expected);
    check(rule, &[1.0, 10.0, 100.0], &[1, 2, 3], 1, &[1.0, 20.0, 300.0]);
    let rule = "a scale is a factor, whatever its sign";
    check(rule, &[-0.25, 0.0], &[-128, 4, 5, -5], 2, &[32.0, -1.0, 0.0, 0.0]);
}

#[test]
fn the_last_group_may_be_shorter() {
    let rule = "the last group may have fewer integers, and they have its scale";
    check(rule, &[0.5, 2.0], &[3, -8, 0, 7, 1], 3, &[1.5, -4.0, 0.0, 14.0, 2.0]);
    check(rule, &[0.5], &[3], 32, &[1.5]);
    let rule = "a group has `group` integers: 9 in groups of 4 are 4, 4 and 1";
    let expected = [1.0, 1.0, 1.0, 1.0, 10.0, 10.0, 10.0, 10.0, 100.0];
    check(rule, &[1.0, 10.0, 100.0], &[1; 9], 4, &expected);
    let expected = [[1.0; 64], [10.0; 64]].concat();
    check("a group may be large", &[1.0, 10.0], &[1; 128], 64, &expected);
    check("without integers there are no weights", &[], &[], 4, &[]);
}

#[test]
fn limit_tiny_and_huge_groups() {
    for (rule, greatest) in [
        ("`weight * 127` would be beyond f32, `weight / scale` is not", 3e38),
        ("`1 / scale` would be beyond f32, `weight / scale` is not", 1e-37),
    ] {
        let weights = [greatest, 0.4 * greatest, -0.2 * greatest, 0.0];
        check_group(rule, &weights, greatest / 127.0, &[127, 51, -25, 0]);
    }
}
