use super::renormalise::renormalise;
use crate::support::{Case, Random};

const TOLERANCE: f32 = 1e-5;

fn case(rule: &str, probabilities: &[f32], kept: &[bool]) -> Case {
    Case::rule(rule).given("probabilities", probabilities).given("kept", kept)
}

fn check(rule: &str, probabilities: &[f32], kept: &[bool], expected: &[f32]) {
    let case = case(rule, probabilities, kept);
    case.close(expected, &renormalise(probabilities, kept), TOLERANCE);
}

#[test]
fn the_example_of_the_chapter() {
    let probabilities = [0.455, 0.276, 0.167, 0.102];
    let kept = [true, true, false, false];
    let rule = "the probability of a token that stays is divided by the sum of all that stay";
    check(rule, &probabilities, &kept, &[0.622_435, 0.377_565, 0.0, 0.0]);
}

#[test]
fn tokens_keep_their_places() {
    let probabilities = [0.125, 0.5, 0.125, 0.25];
    let kept = [false, true, false, true];
    let rule = "a token that was removed has 0, and nothing moves to another place";
    check(rule, &probabilities, &kept, &[0.0, 0.666_667, 0.0, 0.333_333]);
}

#[test]
fn the_last_one_gets_all() {
    let rule = "a token that is left alone is certain, however unlikely it was";
    check(rule, &[0.96875, 0.03125], &[false, true], &[0.0, 1.0]);
}

#[test]
fn what_is_left_may_be_little() {
    let rule = "a token's share is counted among the tokens that stay, however little is left";
    for (probabilities, kept, expected) in [
        ([0.999_999_9, 1e-10, 0.0], [false, true, true], [0.0, 1.0, 0.0]),
        ([1e-30, 3e-30, 1.0], [true, true, false], [0.25, 0.75, 0.0]),
        ([0.499_9, 0.5, 0.000_1], [true, false, true], [0.999_8, 0.0, 0.000_2]),
        ([1e-9, 1.0, 4e-9], [true, false, true], [0.2, 0.0, 0.8]),
    ] {
        check(rule, &probabilities, &kept, &expected);
    }
}

#[test]
fn the_sum_may_be_less_than_one_before() {
    let rule = "what stays sums to 1, even if the probabilities did not";
    for (probabilities, kept, expected) in [
        ([0.5, 0.25, 0.0], [true, true, true], [0.666_667, 0.333_333, 0.0]),
        ([0.25, 0.125, 0.25], [true, true, false], [0.666_667, 0.333_333, 0.0]),
        ([0.5, 0.25, 0.125], [true, true, true], [0.571_429, 0.285_714, 0.142_857]),
        ([0.5, 0.499_6, 0.0], [true, true, true], [0.500_2, 0.499_8, 0.0]),
        ([0.5, 0.499_6, 0.000_4], [true, true, false], [0.500_2, 0.499_8, 0.0]),
    ] {
        check(rule, &probabilities, &kept, &expected);
    }
}

#[test]
fn removed_is_exactly_nothing() {
    let (probabilities, kept) = ([0.125, 0.5, 0.375], [true, false, true]);
    let case = case("a token that was removed has exactly 0", &probabilities, &kept);
    case.equal(Some(0.0), renormalise(&probabilities, &kept).get(1).copied());
}

#[test]
fn all_stay() {
    let all = [0.25, 0.5, 0.25];
    check("if nothing is removed, nothing changes", &all, &[true; 3], &all);
}

#[test]
fn ratios_stay() {
    let mut random = Random::new(1);
    for count in (2..50).chain([300]) {
        let weights: Vec<f32> = (0..count).map(|_| random.float(0.1, 1.0)).collect();
        let total: f32 = weights.iter().sum();
        let probabilities: Vec<f32> = weights.iter().map(|weight| weight / total).collect();
        let mut kept: Vec<bool> = (0..count).map(|_| random.below(2) == 1).collect();
        kept[0] = true;
        let case = case(
            "among the tokens that stay, every ratio of two probabilities is as before",
            &probabilities,
            &kept,
        );
        let found = renormalise(&probabilities, &kept);
        let left: f32 = (0..count).filter(|&i| kept[i]).map(|i| probabilities[i]).sum();
        let share = |i: usize| probabilities[i] / left;
        let expected: Vec<f32> = (0..count).map(|i| if kept[i] { share(i) } else { 0.0 }).collect();
        case.close(&expected, &found, 1e-5);
    }
}
