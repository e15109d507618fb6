use super::typical::typical;
use crate::support::{Case, Random};

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
    let rule = "if much surprise is expected, the most likely token is not typical";
    check(rule, &[0.4, 0.17, 0.16, 0.14, 0.13], 0.55, &[1, 2, 3, 4]);
    check(rule, &[0.13, 0.16, 0.4, 0.17, 0.14], 0.3, &[1, 3]);
}

#[test]
fn where_the_model_is_sure_the_likeliest_token_is_typical() {
    let rule = "if little surprise is expected, the sure token is the typical one";
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
fn many_may_stay() {
    let case = Case::rule("as many stay as it takes, however many that are")
        .given("probabilities", "1024 times 1/1024")
        .given("mass", 0.875);
    let found = typical(&[1.0 / 1024.0; 1024], 0.875);
    let stay = found.iter().filter(|&&p| p > 0.0).count();
    case.equal(("tokens that stay", 896), ("tokens that stay", stay));
}

#[test]
fn a_sum_of_exactly_the_mass_is_enough() {
    let rule = "if the sum is exactly the mass, it is reached: the next token goes";
    check(rule, &[0.5, 0.25, 0.125, 0.125], 0.25, &[1]);
    check(rule, &[0.5, 0.25, 0.125, 0.125], 0.75, &[0, 1]);
}

#[test]
fn the_token_that_reaches_the_mass_stays() {
    let rule = "the token that brings the sum to the mass or above is the last that stays";
    check(rule, &[0.5, 0.25, 0.125, 0.125], 0.26, &[0, 1]);
    check(rule, &[0.5, 0.25, 0.125, 0.125], 0.2505, &[0, 1]);
}

#[test]
fn of_equally_near_ones_no_more_stay_than_it_takes() {
    let rule = "if tokens are equally near, only as many of them stay as it takes";
    for (probabilities, mass, count) in [
        (vec![0.25; 4], 0.5, 2),
        (vec![0.5, 0.25, 0.125, 0.125], 0.8, 3),
    ] {
        let case = Case::rule(rule).given("probabilities", &probabilities).given("mass", mass);
        let found = typical(&probabilities, mass);
        let stay = found.iter().filter(|&&probability| probability > 0.0).count();
        case.holds(stay == count, &format!("{count} tokens stay"), &found);
    }
}

#[test]
fn small_probabilities_are_told_apart_too() {
    let rule =
        "of two tokens above the entropy the likelier one is nearer, however unlikely both are";
    // In rising order: 2^-24 twice, 2^-23, ... 1/4, 1/2. The last 22 sum to 1 - 2^-22.
    let mut probabilities: Vec<f32> = (1..=24).rev().map(|n| 0.5_f32.powi(n)).collect();
    probabilities.insert(0, 0.5_f32.powi(24));
    let mass = 1.0 - 0.5_f32.powi(22);
    let case = Case::rule(rule).given("probabilities", &probabilities).given("mass", mass);
    let found = typical(&probabilities, mass);
    let stay: Vec<usize> = (0..found.len()).filter(|&id| found[id] > 0.0).collect();
    case.equal(("ids that stay", (3..25).collect()), ("ids that stay", stay));
}

#[test]
fn surprise_is_a_logarithm() {
    let rule = "the surprise is the logarithm of 1/p: here 0.74, 2.32, 3.32, 3.32 bits, mean 1.57";
    check(rule, &[0.6, 0.2, 0.1, 0.1], 0.15, &[1]);
}

#[test]
fn what_was_removed_is_not_counted() {
    let rule = "a token of probability 0 adds nothing to the entropy, and never stays";
    check(rule, &[0.0, 0.5, 0.25, 0.0, 0.125, 0.125], 0.5, &[1, 2]);
    check(rule, &[0.0, 1.0], 0.5, &[1]);
}

/// The ids that stay, computed in f64. None where two distances, or a sum and the mass, are so near
/// to each other that rounding may decide.
fn kept_in_f64(probabilities: &[f32], mass: f32) -> Option<Vec<usize>> {
    let p = |id: usize| f64::from(probabilities[id]);
    let surprise = |id: usize| -p(id).log2();
    let entropy: f64 = (0..probabilities.len()).map(|id| p(id) * surprise(id)).sum();
    let distance = |id: usize| (surprise(id) - entropy).abs();
    let mut ids: Vec<usize> = (0..probabilities.len()).collect();
    ids.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    let clear = |a: f64, b: f64| (a - b).abs() > 1e-4;
    let mut kept = Vec::new();
    let mut sum = 0.0;
    for (rank, &id) in ids.iter().enumerate() {
        let next = ids.get(rank + 1).is_none_or(|&next| clear(distance(id), distance(next)));
        sum += p(id);
        kept.push(id);
        if !next || !clear(sum, f64::from(mass)) {
            return None;
        }
        if sum > f64::from(mass) {
            break;
        }
    }
    Some(kept)
}

#[test]
fn random_distributions() {
    let mut random = Random::new(11);
    let mut compared = 0;
    for round in 0..400 {
        let weights: Vec<f32> = random.scores(2 + round / 10).iter().map(|s| s.exp()).collect();
        let sum: f32 = weights.iter().sum();
        let probabilities: Vec<f32> = weights.iter().map(|weight| weight / sum).collect();
        let mass = random.float(0.1, 0.99);
        if let Some(kept) = kept_in_f64(&probabilities, mass) {
            compared += 1;
            check(
                "the tokens whose surprise is nearest to the entropy stay",
                &probabilities,
                mass,
                &kept,
            );
        }
    }
    assert!(compared > 50, "only {compared} inputs are clear: the suite needs others");
}

#[test]
fn limit_a_tiny_probability_is_one_too() {
    let rule = "a probability above 0 has a surprise that is a number, however small it is";
    check(rule, &[0.5, 0.25, 0.125, 0.125, 1e-42], 0.2, &[1]);
    check(rule, &[1e-42, 0.5, 0.125, 0.125, 0.25], 0.6, &[1, 4]);
}
