use super::dequantize::dequantize;
use crate::support::Case;

fn case(rule: &str, scales: &[f32], integers: &[i8], group: usize) -> Case {
    Case::rule(rule).given("scales", scales).given("integers", integers).given("group", group)
}

fn check(rule: &str, scales: &[f32], integers: &[i8], group: usize, expected: &[f32]) {
    let case = case(rule, scales, integers, group);
    case.close(expected, &dequantize(scales, integers, group), 1e-6);
}

#[test]
fn a_worked_example() {
    let rule = "each weight is its integer times the scale of its group";
    check(rule, &[0.5, 2.0], &[3, -8, 0, 7, 1, -1], 3, &[1.5, -4.0, 0.0, 14.0, 2.0, -2.0]);
}

#[test]
fn the_last_group_may_be_shorter() {
    let rule = "the last group may have fewer integers, and they have its scale";
    check(rule, &[0.5, 2.0], &[3, -8, 0, 7, 1], 3, &[1.5, -4.0, 0.0, 14.0, 2.0]);
    check(rule, &[0.5], &[3], 32, &[1.5]);
}

#[test]
fn groups_follow_each_other() {
    let rule = "the first integers share the first scale, the next ones the second";
    let expected = [1.0, 1.0, 10.0, 10.0, 100.0, 100.0];
    check(rule, &[1.0, 10.0, 100.0], &[1; 6], 2, &expected);
}

#[test]
fn groups_of_one_have_a_scale_each() {
    let rule = "with groups of 1 each integer has a scale of its own";
    check(rule, &[1.0, 10.0, 100.0], &[1, 2, 3], 1, &[1.0, 20.0, 300.0]);
}

#[test]
fn scales_may_be_negative_or_zero() {
    let rule = "a scale is a factor, whatever its sign";
    check(rule, &[-0.25, 0.0], &[-8, 4, 5, -5], 2, &[2.0, -1.0, 0.0, 0.0]);
}

#[test]
fn all_integers_have_a_weight() {
    let integers: Vec<i8> = (-127..=127).collect();
    let expected: Vec<f32> = integers.iter().map(|i| 0.125 * f32::from(*i)).collect();
    check("from -127 to 127", &[0.125; 8], &integers, 32, &expected);
}

#[test]
fn no_integers_are_no_weights() {
    check("without integers there are no weights", &[], &[], 4, &[]);
}
