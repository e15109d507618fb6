use super::group_error::{bits_per_weight, mean_squared_error};
use crate::support::{Case, Random};

#[track_caller]
fn check_error(rule: &str, row: &[f32], group: usize, expected: f32) {
    let case = Case::rule(rule).given("row", row).given("group", group);
    case.close(&[expected], &[mean_squared_error(row, group)], 1e-6);
}

#[track_caller]
fn check_bits(rule: &str, weights: usize, group: usize, expected: f32) {
    let case = Case::rule(rule).given("weights", weights).given("group", group);
    case.close(&[expected], &[bits_per_weight(weights, group)], 1e-4);
}

#[test]
fn a_worked_example() {
    let row = [7.0, 1.4, 0.7, 0.2];
    check_error(
        "the mean of the squared errors, each integer being the nearest: one group, whose scale is 1",
        &row,
        4,
        0.0725,
    );
    check_error("two groups: the scales are 1 and 0.1", &row, 2, 0.04);
    let rule = "the error is the weights', not the integers': 0, 4, -3 and 2";
    check_error(rule, &[70.0, 14.0, 7.0, 2.0], 4, 7.25);
}

#[test]
fn groups_of_one_have_no_error() {
    check_error("a weight alone is 7 or -7 times its scale", &[3.0, -0.1, 0.0, 8.0], 1, 0.0);
}

#[test]
fn the_greatest_magnitude_may_be_negative() {
    check_error(
        "the scale comes from the greatest magnitude: 1",
        &[-7.0, 1.4, -0.4],
        3,
        0.32 / 3.0,
    );
}

#[test]
fn the_last_group_may_be_shorter() {
    let rule = "the last group has its scale too: 1 here, and errors 0.4, 0 and 0.3";
    check_error(rule, &[7.0, 1.4, 7.0, 2.7, 7.0], 2, (0.16 + 0.09) / 5.0);
    let rule = "the last group has a separate scale: 0.2 / 7, and the error 0";
    check_error(rule, &[7.0, 0.0, 0.7, 0.2], 3, 0.09 / 4.0);
    let rule = "the mean is over all weights: a shorter group counts less";
    check_error(rule, &[7.0, 0.0, 0.0, 0.0, 7.0, 1.4], 4, 0.16 / 6.0);
}

#[test]
fn a_group_of_zeros_has_no_error() {
    check_error("a group of zeros has no error", &[0.0, 0.0, 7.0, 1.4], 2, 0.04);
    check_error("a group of zeros has no error", &[0.0; 3], 2, 0.0);
}

#[test]
fn a_group_larger_than_the_row_is_the_row() {
    check_error("a row may be shorter than a group", &[7.0, 1.4], 32, 0.08);
}

#[test]
fn an_error_is_at_most_half_a_scale() {
    let mut random = Random::new(4);
    let row: Vec<f32> = (0..64).map(|_| random.float(-7.0, 7.0)).collect();
    for group in [2, 8, 32, 64] {
        let case = Case::rule("weights are rounded to nearest: the error is at most half a scale")
            .given("row", &row)
            .given("group", group);
        let error = mean_squared_error(&row, group);
        case.holds(error <= 0.25, "a mean squared error of at most 0.25", error);
        case.holds(error > 0.0, "an error, since weights lie between integers", error);
    }
}

#[test]
fn scales_take_bits() {
    check_bits("4 bits for each weight and 16 for each group", 4, 4, 8.0);
    check_bits("4 bits for each weight and 16 for each group", 4, 2, 12.0);
    check_bits("groups of 32 take 4.5 bits", 192, 32, 4.5);
    check_bits("groups of 128 take 4.125 bits", 512, 128, 4.125);
    check_bits("groups of 1 take 20 bits", 10, 1, 20.0);
}

#[test]
fn a_shorter_group_has_a_whole_scale() {
    check_bits("two groups: 33 weights and 2 scales", 33, 32, 4.0 + 32.0 / 33.0);
    check_bits("one group, however short", 8, 32, 6.0);
}
