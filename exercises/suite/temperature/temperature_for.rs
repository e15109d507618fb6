use slowburn::sampling::softmax;
use slowburn::sampling::statistics::effective_tokens;

use super::temperature_for::temperature_for;
use crate::support::{Case, Random};

fn effective_at(logits: &[f32], temperature: f32) -> f64 {
    let scores: Vec<f32> = logits.iter().map(|logit| logit / temperature).collect();
    effective_tokens(&softmax(&scores))
}

fn check(rule: &str, logits: &[f32], tokens: f64) {
    let case = Case::rule(rule).given("logits", logits).given("tokens", tokens);
    let temperature = temperature_for(logits, tokens);
    let positive = temperature.is_finite() && temperature > 0.0;
    case.holds(positive, "a temperature above 0", temperature);
    let reached = effective_at(logits, temperature);
    case.holds(
        (reached - tokens).abs() <= 0.001 * tokens,
        &format!("a temperature at which the effective number of tokens is {tokens}, or off by a thousandth of that"),
        format_args!("{temperature}, where it is {reached}"),
    );
}

const LOGITS: [f32; 4] = [2.0, 1.5, 1.0, 0.5];

#[test]
fn the_table_of_the_chapter() {
    for (tokens, temperature) in [(2.579_351, 0.5), (3.473_108, 1.0), (3.850_651, 2.0)] {
        let case = Case::rule(
            "the temperature of a number of tokens: the table of the chapter, read backwards",
        )
        .given("logits", LOGITS)
        .given("tokens", tokens);
        case.close(&[temperature], &[temperature_for(&LOGITS, tokens)], 0.05 * temperature);
    }
}

#[test]
fn nearly_greedy() {
    check("a choice of hardly more than one token is cold", &LOGITS, 1.01);
    check("a choice of hardly more than one token is cold", &[0.1, 0.0, -0.1], 1.01);
}

#[test]
fn nearly_uniform() {
    check("a choice of nearly all tokens is hot", &LOGITS, 3.99);
    check("a choice of nearly all tokens is hot", &[10.0, -10.0], 1.98);
}

#[test]
fn the_ends_of_the_range() {
    let scaled = |factor: f32| LOGITS.map(|logit| logit * factor);
    let rule = "a temperature near 0.01 is found";
    check(rule, &scaled(0.024), 2.579_351);
    check(rule, &scaled(0.05), 2.579_351);
    check(rule, &scaled(0.05), 3.473_108);
    let rule = "a temperature near 100 is found";
    check(rule, &scaled(45.0), 3.850_651);
    check(rule, &scaled(60.0), 3.473_108);
}

#[test]
fn where_the_best_stands_does_not_matter() {
    check("the order of the logits does not matter", &[0.5, 1.0, 1.5, 2.0], 3.0);
    check("logits below zero are logits too", &[-3.0, -7.0, -5.0], 2.0);
}

#[test]
fn few_tokens_of_a_large_vocabulary() {
    let logits: Vec<f32> = (0..10_000).map(|id| -0.1 * id as f32).collect();
    let case = Case::rule("off by a thousandth of `tokens`, however large the vocabulary is")
        .given("logits", "0, -0.1, -0.2 and so on, 10,000 of them")
        .given("tokens", 20);
    let temperature = temperature_for(&logits, 20.0);
    let reached = effective_at(&logits, temperature);
    case.holds(
        (reached - 20.0).abs() <= 0.02,
        "a temperature at which the effective number of tokens is 20",
        format_args!("{temperature}, where it is {reached}"),
    );
}

#[test]
fn random_logits() {
    let mut random = Random::new(6);
    for count in (3..60).chain([300]) {
        let logits = random.scores(count);
        let temperature = random.float(0.3, 3.0);
        let tokens = effective_at(&logits, temperature);
        if tokens < 1.01 {
            continue;
        }
        check("the temperature is found for any logits", &logits, tokens);
    }
}
