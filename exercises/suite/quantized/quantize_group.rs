use super::quantize_group::{dequantize, quantize};
use crate::support::{Case, Random};

fn case(rule: &str, weights: &[f32]) -> Case {
    Case::rule(rule).given("weights", weights)
}

#[test]
fn a_worked_example() {
    let weights = [0.5, -1.27, 0.02, 0.634];
    let case = case("each integer is the nearest to weight / scale", &weights);
    let (scale, integers) = quantize(&weights);
    case.close(&[0.01], &[scale], 1e-6);
    case.equal(vec![50, -127, 2, 63], integers);
}

#[test]
fn the_greatest_magnitude_becomes_the_greatest_integer() {
    for (weights, expected) in [
        ([31.75, -1.0, 2.0], vec![127, -4, 8]),
        ([-31.75, 1.0, 2.0], vec![-127, 4, 8]),
        ([1.0, 2.0, -31.75], vec![4, 8, -127]),
        ([-31.75, -1.0, -2.0], vec![-127, -4, -8]),
    ] {
        let case = case("the greatest magnitude becomes 127 or -127", &weights);
        let (scale, integers) = quantize(&weights);
        case.close(&[0.25], &[scale], 1e-6);
        case.equal(expected, integers);
    }
}

#[test]
fn integers_are_rounded_to_nearest() {
    let weights = [127.0, 2.6, 2.4, -2.6, -2.4, 0.3, -0.3, 0.7, -0.7];
    let case = case("2.6 is nearest to 3, 2.4 to 2, -2.6 to -3 and -2.4 to -2", &weights);
    let (_, integers) = quantize(&weights);
    case.equal(vec![127, 3, 2, -3, -2, 0, 0, 1, -1], integers);
}

#[test]
fn a_group_of_zeros_is_zeros() {
    let case = case("where all weights are 0, scale and integers are 0", &[0.0, -0.0, 0.0]);
    let (scale, integers) = quantize(&[0.0, -0.0, 0.0]);
    case.equal((0.0, vec![0, 0, 0]), (scale, integers));
}

#[test]
fn one_weight_is_kept() {
    for weight in [3.0, -3.0, 1e-30, -1e30] {
        let case = case("the only weight of a group is 127 or -127 times the scale", &[weight]);
        let (scale, integers) = quantize(&[weight]);
        case.holds(scale > 0.0, "a scale above 0", scale);
        case.equal(vec![if weight > 0.0 { 127 } else { -127 }], integers);
    }
}

#[test]
fn tiny_and_huge_groups() {
    for (rule, greatest) in [
        ("`weight * 127` would be beyond f32, `weight / scale` is not", 3e38),
        ("`1 / scale` would be beyond f32, `weight / scale` is not", 1e-37),
    ] {
        let weights = [greatest, 0.4 * greatest, -0.2 * greatest, 0.0];
        let case = case(rule, &weights);
        let (scale, integers) = quantize(&weights);
        case.equal(vec![127, 51, -25, 0], integers);
        let ratio = scale / (greatest / 127.0);
        case.holds((ratio - 1.0).abs() < 1e-4, "a scale of the greatest / 127", scale);
    }
}

#[test]
fn no_weight_is_further_than_half_a_scale() {
    let mut random = Random::new(1);
    for (length, greatest) in [(1, 1.0), (7, 0.02), (32, 3.0), (100, 1e6)] {
        let weights: Vec<f32> = (0..length).map(|_| random.float(-greatest, greatest)).collect();
        let case = case("no weight is further than half a scale from what is stored", &weights);
        let (scale, integers) = quantize(&weights);
        case.equal(weights.len(), integers.len());
        for (weight, integer) in weights.iter().zip(&integers) {
            let error = (weight - scale * f32::from(*integer)).abs();
            let found = format!("{weight} is {integer} times {scale}");
            case.holds(error <= 0.5001 * scale, "an error of at most scale / 2", found);
        }
        let greatest = integers.iter().map(|integer| integer.unsigned_abs()).max();
        case.equal(Some(127), greatest);
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
