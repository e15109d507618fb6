use super::typical::typical;
use crate::support::Case;

/// `kept` are the ids that stay.
fn check(rule: &str, probabilities: &[f32], mass: f32, kept: &[usize]) {
    let case = Case::rule(rule).given("probabilities", probabilities).given("mass", mass);
    let sum: f32 = kept.iter().map(|&id| probabilities[id]).sum();
    let mut expected = vec![0.0; probabilities.len()];
    for &id in kept {
        expected[id] = probabilities[id] / sum;
    }
    case.close(&expected, &typical(probabilities, mass), 1e-6);
}

#[test]
fn the_nearest_to_the_entropy_stay() {
    let rule = "the tokens whose surprise is nearest to the entropy stay";
    check(rule, &[0.5, 0.25, 0.125, 0.125], 0.2, &[1]);
    check(rule, &[0.5, 0.25, 0.125, 0.125], 0.6, &[0, 1]);
    check(rule, &[0.125, 0.5, 0.125, 0.25], 0.6, &[1, 3]);
}

#[test]
fn the_likeliest_token_may_go() {
    let rule = "where much surprise is expected, the most likely token is not typical";
    check(rule, &[0.4, 0.17, 0.16, 0.14, 0.13], 0.55, &[1, 2, 3, 4]);
    check(rule, &[0.13, 0.16, 0.4, 0.17, 0.14], 0.3, &[1, 3]);
}

#[test]
fn where_the_model_is_sure_the_likeliest_token_is_typical() {
    let rule = "where little surprise is expected, the sure token is the typical one";
    check(rule, &[0.02, 0.95, 0.03], 0.5, &[1]);
}

#[test]
fn too_sure_and_too_odd_count_alike() {
    let rule = "the distance to the entropy counts, above it and below it";
    check(rule, &[0.5, 0.25, 0.125, 0.0625, 0.0625], 0.2, &[1]);
    check(rule, &[0.5, 0.25, 0.125, 0.0625, 0.0625], 0.7, &[0, 1]);
    check(rule, &[0.5, 0.25, 0.125, 0.0625, 0.0625], 0.8, &[0, 1, 2]);
}

#[test]
fn a_sum_of_exactly_the_mass_is_enough() {
    let rule = "where the sum is exactly the mass, it is reached: the next token goes";
    check(rule, &[0.5, 0.25, 0.125, 0.125], 0.25, &[1]);
    check(rule, &[0.5, 0.25, 0.125, 0.125], 0.75, &[0, 1]);
}

#[test]
fn the_token_that_reaches_the_mass_stays() {
    let rule = "the token that brings the sum to the mass or above is the last that stays";
    check(rule, &[0.5, 0.25, 0.125, 0.125], 0.26, &[0, 1]);
}

#[test]
fn what_was_removed_is_not_counted() {
    let rule = "a token of probability 0 adds nothing to the entropy, and never stays";
    check(rule, &[0.0, 0.5, 0.25, 0.0, 0.125, 0.125], 0.5, &[1, 2]);
    check(rule, &[0.0, 1.0], 0.5, &[1]);
}
