use super::at_temperature::{InvalidTemperature, at_temperature};
use crate::support::{Case, Random};

fn case(rule: &str, logits: &[f32], temperature: f32) -> Case {
    Case::rule(rule).given("logits", logits).given("temperature", temperature)
}

fn check(rule: &str, logits: &[f32], temperature: f32, expected: &[f32]) {
    let case = case(rule, logits, temperature);
    match at_temperature(logits, temperature) {
        Ok(found) => case.close(expected, &found, 1e-5),
        found => case.holds(false, &format!("Ok({expected:?})"), found),
    }
}

const LOGITS: [f32; 4] = [2.0, 1.5, 1.0, 0.5];

#[test]
fn at_one_it_is_the_softmax() {
    let expected = [0.455_054, 0.276_004, 0.167_405, 0.101_536];
    check("a temperature of 1 changes nothing", &LOGITS, 1.0, &expected);
}

#[test]
fn above_one_the_tokens_become_more_alike() {
    let rule = "a logit is divided by the temperature: above 1 the best token loses probability, and the unlikely ones gain";
    check(rule, &LOGITS, 2.0, &[0.349_932, 0.272_527, 0.212_244, 0.165_296]);
    check(rule, &[100.0, 102.0], 4.0, &[0.377_541, 0.622_459]);
}

#[test]
fn below_one_the_best_token_gains() {
    let rule = "a logit is divided by the temperature: below 1 the best token gains probability, and the unlikely ones lose";
    check(rule, &LOGITS, 0.5, &[0.643_914, 0.236_883, 0.087_144, 0.032_059]);
    check(rule, &[-1.0, -3.0, -2.0], 0.5, &[0.866_813, 0.015_876, 0.117_31]);
}

#[test]
fn zero_is_greedy() {
    let rule = "0 is greedy, not off: the token with the greatest logit has all, of equals the one with the lowest id";
    for zero in [0.0, -0.0] {
        check(rule, &[1.0, 3.0, 2.0], zero, &[0.0, 1.0, 0.0]);
        check(rule, &[-3.0, -1.0, -2.0], zero, &[0.0, 1.0, 0.0]);
        check(rule, &[1.0, 3.0, 3.0], zero, &[0.0, 1.0, 0.0]);
        check(rule, &[f32::NEG_INFINITY, -5.0], zero, &[0.0, 1.0]);
        // The two zeros are equal, though `total_cmp` puts 0 above -0.
        check(rule, &[-0.0, 0.0], zero, &[1.0, 0.0]);
    }
}

#[test]
fn a_tiny_temperature_is_nearly_greedy() {
    let rule = "a tiny temperature gives the best token all, and no NaN";
    for temperature in [1e-3, 1e-6, 1e-30, 1e-40] {
        check(rule, &[20.0, 40.0, 30.0], temperature, &[0.0, 1.0, 0.0]);
        check(rule, &[-20.0, -40.0, -30.0], temperature, &[1.0, 0.0, 0.0]);
    }
}

#[test]
fn a_tiny_temperature_shares_between_equals() {
    let rule = "equal logits have equal probabilities at every temperature above 0";
    for temperature in [1e-6, 1e-10, 1e-30, 1e-40] {
        check(rule, &[40.0, 40.0, 30.0], temperature, &[0.5, 0.5, 0.0]);
    }
}

#[test]
fn a_high_temperature_brings_unlikely_tokens_back() {
    let rule = "a probability of 0 at the temperature 1 may be above 0 at a high one";
    check(rule, &[0.0, -200.0], 100.0, &[0.880_797, 0.119_203]);
    check(rule, &[2000.0, 0.0], 1000.0, &[0.880_797, 0.119_203]);
    check(rule, &[0.0, 2e9], 1e9, &[0.119_203, 0.880_797]);
}

#[test]
fn a_huge_temperature_is_nearly_uniform() {
    let rule = "as the temperature grows, all tokens become equally likely";
    check(rule, &LOGITS, 1e9, &[0.25; 4]);
    check(rule, &LOGITS, f32::MAX, &[0.25; 4]);
}

#[test]
fn what_was_removed_stays_removed() {
    let rule = "a logit of -inf has the probability 0 at every temperature";
    for temperature in [0.5, 1.0, 100.0, 1e9, 1e30, f32::MAX] {
        check(rule, &[3.0, f32::NEG_INFINITY, 3.0], temperature, &[0.5, 0.0, 0.5]);
    }
}

#[test]
fn temperatures_that_make_no_sense_are_refused() {
    use InvalidTemperature::{Negative, NotFinite};
    for (temperature, expected) in [
        (-1.0, Negative),
        (-1e-30, Negative),
        (f32::NAN, NotFinite),
        (f32::INFINITY, NotFinite),
        (f32::NEG_INFINITY, NotFinite),
    ] {
        let rule = "below 0 is the error Negative; NaN and both infinities are NotFinite";
        let case = case(rule, &LOGITS, temperature);
        case.equal(Err(expected), at_temperature(&LOGITS, temperature));
    }
}

#[test]
fn the_order_of_the_tokens_stays() {
    let mut random = Random::new(4);
    for count in 2..60 {
        let logits = random.scores(count);
        let temperature = random.float(0.1, 5.0);
        let case = case("a greater logit has no smaller probability", &logits, temperature);
        let found = at_temperature(&logits, temperature).unwrap_or_default();
        case.holds(found.len() == count, "a probability for each logit", &found);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| logits[a].total_cmp(&logits[b]));
        let sorted = order.is_sorted_by(|&a, &b| found[a] <= found[b]);
        case.holds(sorted, "probabilities in the order of the logits", &found);
    }
}

#[test]
fn limit_a_tiny_temperature_is_taken_as_it_is() {
    let rule = "two logits that are as far apart as the temperature have 0.7311 and 0.2689";
    for temperature in [1.0, 1e-3, 1e-6, 1e-10, 1e-30, 1e-40] {
        check(rule, &[0.0, -temperature], temperature, &[0.731_059, 0.268_941]);
        check(rule, &[0.0, temperature], temperature, &[0.268_941, 0.731_059]);
    }
}

#[test]
fn limit_a_small_probability_is_no_zero() {
    let rule = "an unlikely token has its small probability";
    check(rule, &[0.0, -9.5], 1.0, &[0.999_925, 0.000_075]);
    check(rule, &[19.0, 0.0], 2.0, &[0.999_925, 0.000_075]);
}
