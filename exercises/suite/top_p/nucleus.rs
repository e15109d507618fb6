use super::nucleus::nucleus;
use crate::support::{Case, Random};

const TOLERANCE: f32 = 1e-6;

fn case(rule: &str, probabilities: &[f32], p: f32) -> Case {
    Case::rule(rule).given("probabilities", probabilities).given("p", p)
}

/// `kept` are the ids that stay.
fn check(rule: &str, probabilities: &[f32], p: f32, kept: &[usize]) {
    let which = case(rule, probabilities, p);
    let found = nucleus(probabilities, p);
    which.equal(("numbers", probabilities.len()), ("numbers", found.len()));
    let mut kept = kept.to_vec();
    kept.sort_unstable();
    let stay: Vec<usize> = (0..found.len()).filter(|&id| found[id] > 0.0).collect();
    which.equal(("ids that stay", &kept), ("ids that stay", &stay));
    let divided = case(
        "a token that stays gets its probability divided by the sum of all that stay",
        probabilities,
        p,
    );
    let mass: f32 = kept.iter().map(|&id| probabilities[id]).sum();
    let mut expected = vec![0.0; probabilities.len()];
    for &id in &kept {
        expected[id] = probabilities[id] / mass;
    }
    divided.close(&expected, &found, TOLERANCE);
}

#[test]
fn the_best_stay_until_p_is_reached() {
    let rule = "the most likely tokens stay until their sum is at least p";
    check(rule, &[0.4, 0.25, 0.15, 0.1, 0.05, 0.03, 0.02], 0.88, &[0, 1, 2, 3]);
    check(rule, &[0.5, 0.25, 0.125, 0.125], 0.6, &[0, 1]);
}

#[test]
fn a_sum_of_exactly_p_is_enough() {
    let rule = "if the sum is exactly p, it is reached: the next token goes";
    check(rule, &[0.5, 0.25, 0.125, 0.0625, 0.0625], 0.75, &[0, 1]);
    check(rule, &[0.5, 0.25, 0.125, 0.0625, 0.0625], 0.875, &[0, 1, 2]);
    check(rule, &[0.5, 0.25, 0.25], 0.5, &[0]);
}

#[test]
fn the_token_that_reaches_p_stays() {
    let rule = "the token that brings the sum to p or above is the last that stays";
    check(rule, &[0.5, 0.25, 0.125, 0.0625, 0.0625], 0.76, &[0, 1, 2]);
    check(rule, &[0.75, 0.25], 0.5, &[0]);
}

#[test]
fn one_token_always_stays() {
    for p in [1e-30, 1e-9, 1e-6, 0.1] {
        check("at least the most likely token stays", &[0.25, 0.125, 0.5, 0.125], p, &[2]);
    }
}

#[test]
fn any_order_of_the_ids() {
    let rule = "it is the most likely tokens that stay, wherever they stand";
    check(rule, &[0.25, 0.125, 0.5, 0.125], 0.75, &[0, 2]);
    check(rule, &[0.0625, 0.125, 0.25, 0.0625, 0.5], 0.8, &[1, 2, 4]);
}

#[test]
fn ties_at_the_edge_do_not_make_the_set_larger() {
    let probabilities = [0.25, 0.25, 0.25, 0.25];
    for (p, count) in [(0.25, 1), (0.3, 2), (0.75, 3)] {
        let case = case("the set is the smallest, also among equals", &probabilities, p);
        let found = nucleus(&probabilities, p);
        let kept = found.iter().filter(|&&probability| probability > 0.0).count();
        case.holds(kept == count, &format!("{count} of 4 tokens"), &found);
        let share = 1.0 / count as f32;
        let even = found.iter().all(|&found| found == 0.0 || (found - share).abs() < TOLERANCE);
        case.holds(even, &format!("{share} for each that stays, 0 for the others"), &found);
    }
}

#[test]
fn one_removes_nothing() {
    let rule = "p = 1 removes nothing, even if the sum seems to be 1 already";
    check(rule, &[0.25, 0.5, 0.25], 1.0, &[0, 1, 2]);
    check(rule, &[0.5, 0.5, 1e-9], 1.0, &[0, 1, 2]);
    check(rule, &[0.5, 1e-30, 0.5], 1.0, &[0, 1, 2]);
}

#[test]
fn a_p_near_one_cuts_too() {
    let rule = "a p below 1 is no 1: what is not needed to reach it goes";
    for count in [5, 7, 10, 16, 23, 24] {
        // 1/2, 1/4, ... and the last one twice: the first `n` sum to 1 - 2^-n, exactly.
        let last = count as i32 + 1;
        let mut probabilities: Vec<f32> = (1..=last).map(|n| 0.5_f32.powi(n)).collect();
        probabilities.push(0.5_f32.powi(last));
        let kept: Vec<usize> = (0..count).collect();
        check(rule, &probabilities, 1.0 - 0.5_f32.powi(count as i32), &kept);
    }
}

#[test]
fn the_smallest_probabilities_are_in_order_too() {
    let rule = "of two tokens the likelier one stays, however unlikely both are";
    // In rising order: 2^-24 twice, 2^-23, ... 1/4, 1/2. The last 23 sum to 1 - 2^-23.
    let mut probabilities: Vec<f32> = (1..=24).rev().map(|n| 0.5_f32.powi(n)).collect();
    probabilities.insert(0, 0.5_f32.powi(24));
    let kept: Vec<usize> = (3..25).collect();
    check(rule, &probabilities, 1.0 - 0.5_f32.powi(22), &kept);
}

#[test]
fn small_probabilities_stay_where_they_are_needed() {
    let rule = "a token stays because it is needed, however small its probability is";
    for count in [512, 8192] {
        let case = Case::rule(rule)
            .given("probabilities", format!("{count} times 1/{count}"))
            .given("p", 0.75);
        let found = nucleus(&vec![1.0 / count as f32; count], 0.75);
        let kept = found.iter().filter(|&&p| p > 0.0).count();
        case.equal(("ids that stay", count * 3 / 4), ("ids that stay", kept));
    }
}

#[test]
fn random_distributions() {
    let mut random = Random::new(7);
    for count in 1..60 {
        let weights: Vec<f32> = (0..count).map(|_| random.float(0.0, 1.0)).collect();
        let sum: f32 = weights.iter().sum();
        let probabilities: Vec<f32> = weights.iter().map(|weight| weight / sum).collect();
        let p = random.float(0.1, 0.95);
        let mut ids: Vec<usize> = (0..count).collect();
        ids.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
        let mut mass = 0.0;
        ids.retain(|&id| {
            let short = mass < p;
            mass += probabilities[id];
            short
        });
        check(
            "the most likely tokens stay until their sum is at least p",
            &probabilities,
            p,
            &ids,
        );
    }
}
