use std::f32::consts::LN_2;

use super::log_probability::log_probability;
use crate::support::{Case, Random};

const INF: f32 = f32::INFINITY;

fn check(rule: &str, logits: &[f32], token: usize, expected: f32, tolerance: f32) {
    let case = Case::rule(rule).given("logits", logits).given("token", token);
    case.close(&[expected], &[log_probability(logits, token)], tolerance);
}

#[test]
fn the_logarithm_of_the_softmax() {
    let rule = "the result is ln(exp(s_token) / sum_j exp(s_j)), which is 0 or less";
    check(rule, &[0.0, 0.0], 1, -LN_2, 1e-5);
    check(rule, &[2.0, 1.5, 1.0, 0.5], 0, -0.787_34, 1e-5);
    check(rule, &[2.0, 1.5, 1.0, 0.5], 3, -2.287_34, 1e-5);
    check(rule, &[-1.0, -3.0], 0, -0.126_928, 1e-5);
}

#[test]
fn a_token_alone_is_certain() {
    for logit in [0.0, 5.0, -5.0, 1000.0] {
        check("one token alone has the probability 1", &[logit], 0, 0.0, 1e-3);
    }
}

#[test]
fn large_logits_do_not_overflow() {
    let rule = "logits may be too large for exp, and the result is still right";
    check(rule, &[1000.0, 1000.0], 0, -LN_2, 1e-3);
    check(rule, &[1001.0, 1000.0], 1, -1.313_262, 1e-3);
    check(rule, &[100.0, 99.0], 0, -0.313_262, 1e-3);
    check(rule, &[0.0, 1000.0], 0, -1000.0, 1e-3);
    check(rule, &[0.0, 1000.0], 1, 0.0, 1e-3);
    check(rule, &[0.0, 500.0, 1000.0, 999.0], 3, -1.313_262, 1e-3);
}

#[test]
fn small_logits_do_not_vanish() {
    let rule = "only differences count, even if every exp is 0";
    check(rule, &[-1000.0, -1000.0], 0, -LN_2, 1e-3);
    check(rule, &[-1000.0, -1001.0], 1, -1.313_262, 1e-3);
}

#[test]
fn a_very_unlikely_token_has_an_ordinary_logarithm() {
    let rule = "the logarithm is finite even if the probability is 0 in an f32";
    check(rule, &[0.0, -200.0], 1, -200.0, 1e-3);
    check(rule, &[0.0, -200.0], 0, 0.0, 1e-5);
    check(rule, &[120.0, 120.0, -80.0], 2, -200.693_15, 1e-3);
    let rule = "the logarithm is finite even if the probability is 0 in an f64";
    check(rule, &[0.0, -800.0], 1, -800.0, 1e-3);
    check(rule, &[0.0, 0.0, -800.0], 2, -800.693, 1e-3);
    check(rule, &[0.0, 0.0, 0.0, -200.0], 3, -201.098_6, 1e-3);
    check(rule, &[0.0, -80_000.0], 1, -80_000.0, 0.1);
    check(rule, &[40_000.0, 0.0, -40_000.0], 2, -80_000.0, 0.1);
    check(rule, &[0.0, -3e38], 1, -3e38, 1e33);
}

#[test]
fn a_removed_token_has_minus_infinity() {
    let rule = "a logit of -inf has the probability 0, and takes nothing from the others";
    check(rule, &[1.0, -INF, 1.0], 1, -INF, 0.0);
    check(rule, &[1.0, -INF, 1.0], 2, -LN_2, 1e-5);
    check(rule, &[-INF, 0.0, 2.0], 1, -2.126_928, 1e-5);
}

#[test]
fn the_probabilities_sum_to_one() {
    let mut random = Random::new(2);
    for count in (1..100).chain([500]) {
        let logits = random.scores(count);
        let case =
            Case::rule("exp of the results for all tokens has the sum 1").given("logits", &logits);
        let found: Vec<f32> = (0..count).map(|token| log_probability(&logits, token)).collect();
        let sum: f64 = found.iter().map(|&ln| f64::from(ln).exp()).sum();
        case.holds((sum - 1.0).abs() < 1e-4, "the sum 1", (sum, &found));
    }
}
