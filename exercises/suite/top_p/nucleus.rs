use super::nucleus::nucleus;
use crate::support::{Case, Random};

const TOLERANCE: f32 = 1e-6;

fn case(rule: &str, probabilities: &[f32], p: f32) -> Case {
    Case::rule(rule).given("probabilities", probabilities).given("p", p)
}

/// `kept` are the ids that stay.
fn check(rule: &str, probabilities: &[f32], p: f32, kept: &[usize]) {
    let case = case(rule, probabilities, p);
    let mass: f32 = kept.iter().map(|&id| probabilities[id]).sum();
    let mut expected = vec![0.0; probabilities.len()];
    for &id in kept {
        expected[id] = probabilities[id] / mass;
    }
    case.close(&expected, &nucleus(probabilities, p), TOLERANCE);
}

#[test]
fn the_best_stay_until_p_is_reached() {
    let rule = "the most likely tokens stay until their sum is at least p";
    check(rule, &[0.4, 0.25, 0.15, 0.1, 0.05, 0.03, 0.02], 0.88, &[0, 1, 2, 3]);
    check(rule, &[0.5, 0.25, 0.125, 0.125], 0.6, &[0, 1]);
}

#[test]
fn a_sum_of_exactly_p_is_enough() {
    let rule = "where the sum is exactly p, it is reached: the next token goes";
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
    for p in [1e-6, 0.1] {
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
    let rule = "p = 1 removes nothing, also where the sum seems to be 1 already";
    check(rule, &[0.25, 0.5, 0.25], 1.0, &[0, 1, 2]);
    check(rule, &[0.5, 0.5, 1e-9], 1.0, &[0, 1, 2]);
    let case = case(rule, &[0.5, 0.5, 1e-9], 1.0);
    let found = nucleus(&[0.5, 0.5, 1e-9], 1.0);
    case.holds(found[2] > 0.0, "a third token with a probability above 0", &found);
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
