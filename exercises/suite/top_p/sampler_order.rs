use slowburn::sampling::softmax;

use super::sampler_order::{Rules, sampler_order};
use crate::support::Case;

const OFF: Rules = Rules {
    repetition_penalty: 1.0,
    temperature: 1.0,
    top_k: None,
    top_p: None,
    min_p: None,
};

fn check(rule: &str, logits: &[f32], said: &[u32], rules: &Rules, expected: &[f32]) {
    let case = Case::rule(rule)
        .given("logits", logits)
        .given("their softmax", softmax(logits))
        .given("said", said)
        .given("rules", rules);
    case.close(expected, &sampler_order(logits, said, rules), 2e-5);
}

/// Logits whose softmax has these probabilities.
fn logits_of<const N: usize>(probabilities: [f32; N]) -> [f32; N] {
    probabilities.map(f32::ln)
}

const LOGITS: [f32; 4] = [2.0, 1.5, 1.0, 0.5];

#[test]
fn without_rules_it_is_the_models_distribution() {
    let expected = [0.455_054, 0.276_004, 0.167_405, 0.101_536];
    check(
        "if all rules are off, it is the softmax of the logits",
        &LOGITS,
        &[],
        &OFF,
        &expected,
    );
}

#[test]
fn k_may_be_large() {
    let case = Case::rule("the 200 best of 300 tokens stay")
        .given("logits", "200 times 1, then 100 times 0")
        .given("top_k", 200);
    let logits = [vec![1.0; 200], vec![0.0; 100]].concat();
    let found = sampler_order(&logits, &[], &Rules { top_k: Some(200), ..OFF });
    case.close(&[vec![0.005; 200], vec![0.0; 100]].concat(), &found, 2e-5);
    let case = Case::rule("with k above 200, tokens of the second kind stay too")
        .given("logits", "200 times 1, then 100 times 0")
        .given("top_k", 201);
    let found = sampler_order(&logits, &[], &Rules { top_k: Some(201), ..OFF });
    case.close(&softmax(&logits), &found, 2e-5);
}

#[test]
fn minus_zero_is_a_temperature_of_zero() {
    let rules = Rules { temperature: -0.0, ..OFF };
    check("-0.0 is 0 too: greedy", &LOGITS, &[], &rules, &[1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn the_penalty_falls_on_each_token_once() {
    let rules = Rules { repetition_penalty: 2.0, ..OFF };
    let rule = "a token is penalised once, however often it was said: here the scores 1, -2 and 1";
    let expected = [0.487_856, 0.024_289, 0.487_856];
    check(rule, &[2.0, -1.0, 1.0], &[0, 1, 0, 1, 1, 0], &rules, &expected);
    let many: Vec<u32> = [vec![1; 40], vec![0]].concat();
    check(rule, &[2.0, -1.0, 1.0], &many, &rules, &expected);
}

#[test]
fn a_penalty_below_one_counts_too() {
    let rules = Rules { repetition_penalty: 0.5, ..OFF };
    let rule = "a penalty below 1 makes what was said likelier: here the scores 2, -2 and 0";
    check(rule, &[1.0, -2.0, 0.0], &[0], &rules, &[0.866_813, 0.015_876, 0.117_310]);
}

#[test]
fn the_penalty_comes_before_greedy() {
    let rules = Rules { repetition_penalty: 2.0, temperature: 0.0, ..OFF };
    let rule = "greedy takes the best token after the penalty";
    check(rule, &[3.0, 2.5, 1.0], &[0], &rules, &[0.0, 1.0, 0.0]);
    check(rule, &[-1.0, -1.5, -4.0], &[0, 0], &rules, &[0.0, 1.0, 0.0]);
}

#[test]
fn greedy_is_the_end() {
    let rules = Rules {
        temperature: 0.0,
        top_k: Some(3),
        top_p: Some(0.9),
        min_p: Some(0.1),
        ..OFF
    };
    let rule = "at the temperature 0 the first of the best tokens has all, whatever follows";
    check(rule, &[1.0, 2.0, 2.0, 0.5], &[], &rules, &[0.0, 1.0, 0.0, 0.0]);
    let rule = "-0.0 and 0.0 are equal: the first of them has all";
    check(rule, &[-0.0, 0.0, -1.0], &[], &rules, &[1.0, 0.0, 0.0]);
}

#[test]
fn the_penalty_comes_before_top_k() {
    let rules = Rules { repetition_penalty: 4.0, top_k: Some(2), ..OFF };
    let rule = "top-k chooses among the scores after the penalty";
    check(rule, &[3.0, 2.0, 1.0], &[0], &rules, &[0.0, 0.731_059, 0.268_941]);
}

#[test]
fn the_temperature_comes_before_top_p() {
    let rules = Rules { temperature: 2.0, top_p: Some(0.7), ..OFF };
    let rule = "top-p sums the probabilities after the temperature";
    check(rule, &LOGITS, &[], &rules, &[0.419_229, 0.326_496, 0.254_275, 0.0]);
}

#[test]
fn the_temperature_comes_before_min_p() {
    let rules = Rules { temperature: 2.0, min_p: Some(0.5), ..OFF };
    let rule = "min-p compares the probabilities after the temperature";
    check(rule, &LOGITS, &[], &rules, &[0.419_229, 0.326_496, 0.254_275, 0.0]);
}

#[test]
fn a_tiny_temperature_leaves_the_best() {
    let rule = "however small a temperature is, it is not 0: the best tokens share what is left";
    for temperature in [1e-40, 1e-30, 1e-3] {
        let rules = Rules { temperature, ..OFF };
        check(rule, &[1.0, 2.0, 2.0, 0.5], &[], &rules, &[0.0, 0.5, 0.5, 0.0]);
        let all = Rules { top_k: Some(3), top_p: Some(0.9), min_p: Some(0.1), ..rules };
        check(rule, &[-1.0, -2.0, -1.5, -3.0], &[], &all, &[1.0, 0.0, 0.0, 0.0]);
    }
}

#[test]
fn a_tiny_temperature_is_taken_as_it_is() {
    let rules = Rules { temperature: 1e-6, ..OFF };
    let rule = "every temperature above 0 is taken as it is: here the scores 0 and -1";
    check(rule, &[0.0, -1e-6], &[], &rules, &[0.731_059, 0.268_941]);
}

#[test]
fn a_low_temperature_is_applied() {
    let rules = Rules { temperature: 0.05, ..OFF };
    let rule = "the temperature divides the scores, even if it is low: here 0 and -2";
    check(rule, &[1.0, 0.9], &[], &rules, &[0.880_797, 0.119_203]);
}

#[test]
fn top_p_sees_what_top_k_left() {
    let rules = Rules { top_k: Some(2), top_p: Some(0.5), ..OFF };
    let rule = "top-p sums probabilities that are renormalised after top-k";
    check(rule, &logits_of([0.4, 0.3, 0.2, 0.1]), &[], &rules, &[1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn min_p_comes_after_top_p() {
    let rules = Rules { top_p: Some(0.65), min_p: Some(0.3), ..OFF };
    let rule = "top-p sums before min-p has removed anything";
    let logits = logits_of([0.5, 0.25, 0.125, 0.125]);
    check(rule, &logits, &[], &rules, &[0.666_667, 0.333_333, 0.0, 0.0]);
}

#[test]
fn min_p_measures_both_tokens_after_top_p() {
    let rules = Rules { top_p: Some(0.7), min_p: Some(0.5), ..OFF };
    let rule = "min-p compares two probabilities that top-p left: the second has 0.61 of the first";
    check(rule, &LOGITS, &[], &rules, &[0.622_459, 0.377_541, 0.0, 0.0]);
}

#[test]
fn ties_and_edges_are_those_of_each_rule() {
    let top_k = Rules { top_k: Some(2), ..OFF };
    let rule = "top-k keeps the ties of the last one";
    check(
        rule,
        &[1.0, 2.0, 1.0, 0.0],
        &[],
        &top_k,
        &[0.211_942, 0.576_117, 0.211_942, 0.0],
    );
    let large = Rules { top_k: Some(9), ..OFF };
    check(
        "a k above the vocabulary removes nothing",
        &[0.0, 0.0],
        &[],
        &large,
        &[0.5, 0.5],
    );
    let top_p = Rules { top_p: Some(1e-3), ..OFF };
    check("top-p keeps at least one", &[0.0, 2.0, 1.0], &[], &top_p, &[0.0, 1.0, 0.0]);
    let min_p = Rules { min_p: Some(1.0), ..OFF };
    check("min-p 1 keeps the best", &[1.0, 2.0, 2.0], &[], &min_p, &[0.0, 0.5, 0.5]);
}

#[test]
fn a_sum_of_exactly_top_p_is_enough() {
    let rules = Rules { top_p: Some(0.5), ..OFF };
    let case = Case::rule("if the sum is exactly top-p, it is reached: two of four equals stay")
        .given("logits", [0.0; 4])
        .given("rules", &rules);
    let mut found = sampler_order(&[0.0; 4], &[], &rules);
    found.sort_by(f32::total_cmp);
    case.close(&[0.0, 0.0, 0.5, 0.5], &found, 1e-6);
}

#[test]
fn a_top_p_near_one_cuts_too() {
    let rules = Rules { top_p: Some(0.9921875), ..OFF };
    let rule = "a top-p below 1 is no 1: what is not needed to reach it goes";
    // Their sum is 1, and the first two have 1 - 1/256.
    let logits = logits_of([0.5, 0.496_093_75, 0.003_906_25]);
    check(rule, &logits, &[], &rules, &[0.501_961, 0.498_039, 0.0]);
}

#[test]
fn top_p_one_removes_nothing() {
    let rules = Rules { top_p: Some(1.0), ..OFF };
    let logits = [0.0, 0.0, -20.0];
    let case = Case::rule("top-p 1 removes nothing, even if the sum seems to be 1 already")
        .given("logits", logits)
        .given("rules", &rules);
    let found = sampler_order(&logits, &[], &rules);
    let all = found.len() == 3 && found.iter().all(|&probability| probability > 0.0);
    case.holds(all, "three probabilities above 0", &found);
}

// After the penalty and the temperature: 1.8, 2.8, 2.4, 4, 1, 2, -8. Top-k leaves the tokens 3, 1, 2
// and 5, with 0.610, 0.184, 0.123 and 0.083. The first three reach 0.9, and token 2 has a fifth of
// what the best has.
#[test]
fn together_all_rules_in_their_order() {
    let rules = Rules {
        repetition_penalty: 2.0,
        temperature: 0.5,
        top_k: Some(4),
        top_p: Some(0.9),
        min_p: Some(0.25),
    };
    let rule = "penalty, temperature, top-k, top-p, min-p: each on what the one before left";
    let logits = [0.9, 2.8, 1.2, 2.0, 0.5, 1.0, -2.0];
    let expected = [0.0, 0.231_475, 0.0, 0.768_525, 0.0, 0.0, 0.0];
    check(rule, &logits, &[1, 6, 1], &rules, &expected);
}
