use super::residual::{acceptance, residual};
use crate::support::{Case, Random};

fn case(rule: &str, p: &[f64], q: &[f64]) -> Case {
    Case::rule(rule).given("p", p).given("q", q)
}

/// Equal, but for the rounding of a few operations.
fn close(case: &Case, what: &str, expected: &[f64], found: &[f64]) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12;
    let equal = expected.len() == found.len() && expected.iter().zip(found).all(near);
    case.holds(equal, &format!("{what} {expected:?}"), found);
}

fn check_acceptance(rule: &str, p: &[f64], q: &[f64], token: usize, expected: f64) {
    let case = case(rule, p, q).given("token", token);
    close(&case, "acceptance", &[expected], &[acceptance(p, q, token)]);
}

fn check_residual(rule: &str, p: &[f64], q: &[f64], expected: &[f64]) {
    close(&case(rule, p, q), "residual", expected, &residual(p, q));
}

/// How often each token comes in the end, if a guess is drawn from `q`, and accepted or replaced.
fn written(p: &[f64], q: &[f64]) -> Vec<f64> {
    let accepted: Vec<f64> = (0..p.len()).map(|token| q[token] * acceptance(p, q, token)).collect();
    let rejected = 1.0 - accepted.iter().sum::<f64>();
    accepted.iter().zip(residual(p, q)).map(|(accepted, r)| accepted + rejected * r).collect()
}

#[test]
fn the_example_of_the_task() {
    let (p, q) = ([0.5, 0.25, 0.25], [0.25, 0.75, 0.0]);
    let rule = "the example above the function: accepted with p / q, at most 1; replaced in proportion to what p has more than q";
    check_acceptance(rule, &p, &q, 0, 1.0);
    check_acceptance(rule, &p, &q, 1, 1.0 / 3.0);
    check_residual(rule, &p, &q, &[0.5, 0.0, 0.5]);
}

#[test]
fn a_guess_is_accepted_with_p_over_q_and_at_most_1() {
    let rule = "p / q of the token, not q / p, and 1 if that is more";
    let (p, q) = ([0.1, 0.2, 0.7], [0.4, 0.2, 0.4]);
    check_acceptance(rule, &p, &q, 0, 0.25);
    check_acceptance(rule, &p, &q, 1, 1.0);
    check_acceptance(rule, &p, &q, 2, 1.0);
    let rule = "what the target never writes is never accepted";
    check_acceptance(rule, &[0.0, 1.0], &[0.5, 0.5], 0, 0.0);
    let rule = "p / q of tiny numbers";
    check_acceptance(rule, &[1e-300, 1.0], &[4e-300, 1.0], 0, 0.25);
    check_acceptance(rule, &[5e-324, 1.0], &[1e-323, 1.0], 0, 0.5);
}

#[test]
fn a_token_that_the_draft_cannot_draw() {
    for (p, q) in [([0.5, 0.5], [0.0, 1.0]), ([0.0, 1.0], [0.0, 1.0])] {
        let case = case("if q is 0, a probability from 0 to 1", &p, &q).given("token", 0);
        let found = acceptance(&p, &q, 0);
        case.holds((0.0..=1.0).contains(&found), "a number from 0 to 1", found);
    }
}

#[test]
fn the_residual_is_what_p_has_more_than_q() {
    let rule = "max(0, p - q), divided by the sum of all";
    check_residual(rule, &[0.7, 0.2, 0.1], &[0.2, 0.5, 0.3], &[1.0, 0.0, 0.0]);
    let (p, q) = ([0.4, 0.4, 0.2, 0.0], [0.1, 0.3, 0.1, 0.5]);
    check_residual(rule, &p, &q, &[0.6, 0.2, 0.2, 0.0]);
    let rule = "a draft that is certain of a token: the target's distribution without it";
    check_residual(rule, &[0.5, 0.3, 0.2], &[1.0, 0.0, 0.0], &[0.0, 0.6, 0.4]);
    let rule = "a target that is certain of a token: that token";
    check_residual(rule, &[0.0, 1.0, 0.0], &[0.3, 0.3, 0.4], &[0.0, 1.0, 0.0]);
}

#[test]
fn where_both_are_equal_the_residual_is_p() {
    for p in [vec![1.0], vec![0.5, 0.5], vec![0.125, 0.25, 0.0, 0.625]] {
        check_residual("if p and q are equal, the residual is p", &p, &p, &p);
    }
}

#[test]
fn tiny_differences_are_differences() {
    let rule = "divided by the sum, however small it is";
    check_residual(rule, &[1.0, 1e-12, 3e-12], &[1.0, 0.0, 0.0], &[0.0, 0.25, 0.75]);
    check_residual(rule, &[1.0, 1e-200, 0.0], &[1.0, 0.0, 1e-200], &[0.0, 1.0, 0.0]);
    check_residual(rule, &[1.0, 1e-320, 1e-320], &[1.0, 0.0, 0.0], &[0.0, 0.5, 0.5]);
    check_residual(rule, &[1.0, 5e-324], &[1.0, 0.0], &[0.0, 1.0]);
}

#[test]
fn in_the_end_p_over_all_small_distributions() {
    // All distributions of 3 tokens in steps of 1/6.
    let thirds = |a: u32| (0..=6 - a).map(move |b| [a, b, 6 - a - b].map(|n| f64::from(n) / 6.0));
    let all: Vec<[f64; 3]> = (0..=6).flat_map(thirds).collect();
    for p in &all {
        for q in &all {
            let rule = "drawn from q, accepted or replaced, a token comes as often as p demands";
            close(&case(rule, p, q), "in the end", p, &written(p, q));
        }
    }
}

#[test]
fn in_the_end_p_for_any_distributions() {
    let mut random = Random::new(17);
    let mut distribution = |count: usize| -> Vec<f64> {
        // Scores of many magnitudes, and some tokens without any.
        let weights: Vec<f64> = (0..count)
            .map(|_| match random.below(4) {
                0 => 0.0,
                _ => 10_f64.powf(f64::from(random.float(-9.0, 0.0))),
            })
            .collect();
        let sum: f64 = weights.iter().sum::<f64>() + 1.0;
        weights.iter().map(|weight| weight / sum).chain([1.0 / sum]).collect()
    };
    for count in 1..60 {
        let (p, q) = (distribution(count), distribution(count));
        let rule = "drawn from q, accepted or replaced, a token comes as often as p demands";
        close(&case(rule, &p, &q), "in the end", &p, &written(&p, &q));
    }
}
