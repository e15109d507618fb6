use super::entropy::{effective_tokens, entropy};
use crate::support::{Case, Random};

fn check(rule: &str, probabilities: &[f32], bits: f64) {
    let case = Case::rule(rule).given("probabilities", probabilities);
    case.close(&[bits as f32], &[entropy(probabilities) as f32], 1e-5);
}

#[test]
fn equal_tokens_have_as_many_bits_as_it_takes_to_number_them() {
    let rule = "of 2^n equally likely tokens, the entropy is n bits";
    check(rule, &[0.5, 0.5], 1.0);
    check(rule, &[0.25; 4], 2.0);
    check(rule, &[1.0 / 256.0; 256], 8.0);
    let case = Case::rule(rule).given("probabilities", "2^18 times 2^-18");
    let found = entropy(&vec![1.0 / (1 << 18) as f32; 1 << 18]);
    case.close(&[18.0], &[found as f32], 1e-5);
}

#[test]
fn each_surprise_counts_as_often_as_its_token_comes() {
    let rule = "the entropy is the mean surprise, each token weighted with its probability";
    check(rule, &[0.5, 0.25, 0.125, 0.125], 1.75);
    check(rule, &[0.455_054, 0.276_004, 0.167_405, 0.101_536], 1.796_227);
    check(rule, &[0.7, 0.2, 0.1], 1.156_78);
}

#[test]
fn what_never_comes_adds_nothing() {
    let rule = "a token of probability 0 adds 0 bits";
    check(rule, &[0.0, 0.5, 0.0, 0.5], 1.0);
    check(rule, &[0.0, 1.0, 0.0], 0.0);
    let rule = "a token of probability 1e-40 adds next to nothing, though 1 / p is beyond an f32";
    check(rule, &[1.0, 1e-40], 0.0);
}

#[test]
fn many_small_terms() {
    // Half of the probability on one token, the other half on 2^20 others: half of 1 bit, and half of
    // 21 bits.
    let case = Case::rule("many unlikely tokens together count as much as a likely one")
        .given("probabilities", "0.5, and then 1048576 times 2^-21");
    let mut probabilities = vec![1.0 / (1 << 21) as f32; (1 << 20) + 1];
    probabilities[0] = 0.5;
    case.close(&[11.0], &[entropy(&probabilities) as f32], 1e-5);
    case.close(&[2048.0], &[effective_tokens(&probabilities) as f32], 0.2);
}

#[test]
fn a_sure_thing_does_not_surprise() {
    check("one token alone has an entropy of 0", &[1.0], 0.0);
}

#[test]
fn effective_tokens_of_equals_is_their_number() {
    for count in [1, 2, 3, 10, 1000] {
        let case = Case::rule("of n equally likely tokens, the effective number is n")
            .given("probabilities", format!("1/{count}, {count} times"));
        let found = effective_tokens(&vec![1.0 / count as f32; count]) as f32;
        case.close(&[count as f32], &[found], 1e-4 * count as f32);
    }
}

#[test]
fn effective_tokens_is_two_to_the_entropy() {
    let rule = "the effective number of tokens is 2 to the power of the entropy in bits";
    for (probabilities, expected) in [
        (vec![0.7, 0.2, 0.1], 2.229_592),
        (vec![0.5, 0.25, 0.125, 0.125], 3.363_586),
        (vec![0.0, 1.0], 1.0),
    ] {
        let case = Case::rule(rule).given("probabilities", &probabilities);
        case.close(&[expected], &[effective_tokens(&probabilities) as f32], 1e-4);
    }
}

#[test]
fn never_more_than_all_tokens() {
    let mut random = Random::new(5);
    for count in 1..60 {
        let weights: Vec<f32> = (0..count).map(|_| random.float(0.0, 1.0)).collect();
        let sum: f32 = weights.iter().sum();
        let probabilities: Vec<f32> = weights.iter().map(|weight| weight / sum).collect();
        let case = Case::rule("the effective number is from 1 to the number of tokens")
            .given("probabilities", &probabilities);
        let found = effective_tokens(&probabilities);
        let allowed = 0.9999..=count as f64 + 0.0001 * count as f64;
        case.holds(allowed.contains(&found), &format!("1 to {count}"), found);
    }
}

#[test]
fn limit_many_tiny_terms() {
    // 2^-10 of the probability lies on 2^20 tokens: each of them is below a thousand-millionth.
    let case = Case::rule("a token adds its surprise, however small its probability is")
        .given("probabilities", "1 - 2^-10, and then 1048576 times 2^-30");
    let mut probabilities = vec![1.0 / (1 << 30) as f32; (1 << 20) + 1];
    probabilities[0] = 1.0 - 1.0 / 1024.0;
    case.close(&[0.030_705], &[entropy(&probabilities) as f32], 1e-5);
}

#[test]
fn limit_many_that_never_come() {
    let case = Case::rule("tokens of probability 0 add 0 bits, however many they are")
        .given("probabilities", "0.5, 0.5, and then 1048576 times 0");
    let mut probabilities = vec![0.0; (1 << 20) + 2];
    probabilities[..2].fill(0.5);
    case.close(&[1.0], &[entropy(&probabilities) as f32], 1e-5);
}
