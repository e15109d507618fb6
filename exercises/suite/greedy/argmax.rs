use super::argmax::{Choice, Unusable, argmax};
use crate::support::{Case, Random};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

fn case(rule: &str, logits: &[f32]) -> Case {
    Case::rule(rule).given("logits", logits)
}

/// The token alone, whatever the lead is.
fn check_token(rule: &str, logits: &[f32], expected: usize) {
    let case = case(rule, logits);
    let found = argmax(logits);
    let right = found.is_ok_and(|choice| choice.token == expected);
    case.holds(right, &format!("the token {expected}"), found);
}

fn check(rule: &str, logits: &[f32], token: usize, lead: f32) {
    let case = case(rule, logits);
    case.equal(Ok(Choice { token, lead }), argmax(logits));
}

fn check_error(rule: &str, logits: &[f32], expected: Unusable) {
    let case = case(rule, logits);
    case.equal(Err(expected), argmax(logits));
}

#[test]
fn the_place_of_the_greatest() {
    let rule = "the token is the index of the greatest logit";
    check_token(rule, &[2.0, 1.5, 1.0], 0);
    check_token(rule, &[1.0, 2.0, 1.5], 1);
    check_token(rule, &[1.0, 1.5, 2.0], 2);
    check_token(rule, &[7.0], 0);
    check_token(rule, &[1.0, 1.000_000_1], 1);
}

#[test]
fn logits_below_zero() {
    let rule = "the greatest logit is found even if all are below zero";
    check_token(rule, &[-3.0, -1.0, -2.0], 1);
    check_token(rule, &[-3.0], 0);
    check_token(rule, &[-2e38, -3e38, -1e38], 2);
}

#[test]
fn the_first_of_equals() {
    let rule = "of equals, the first is taken";
    check_token(rule, &[1.0, 1.0], 0);
    check_token(rule, &[0.5, 2.0, 1.0, 2.0, 2.0], 1);
    check_token(rule, &[-0.0, 0.0], 0);
    check_token(rule, &[0.0, -0.0], 0);
}

#[test]
fn the_lead_over_the_second() {
    let rule = "the lead is the greatest logit less the second, wherever that stands";
    check(rule, &[2.0, 1.5, 1.0], 0, 0.5);
    check(rule, &[1.5, 2.0, 1.0], 1, 0.5);
    check(rule, &[1.0, 2.0, 1.5], 1, 0.5);
    check(rule, &[1.0, 1.5, 2.0], 2, 0.5);
    check(rule, &[1.5, 1.0, 2.0], 2, 0.5);
    check(rule, &[-3.0, -1.0, -9.0], 1, 2.0);
    check(rule, &[-0.25, -0.5], 0, 0.25);
    check(rule, &[-4.0, 4.0], 1, 8.0);
    check(rule, &[1.0, 1.000_000_1], 1, f32::EPSILON);
}

#[test]
fn equals_have_no_lead() {
    let rule = "if another token has the same logit, the lead is 0";
    check(rule, &[1.0, 1.0], 0, 0.0);
    check(rule, &[3.0, 1.0, 3.0, 2.0], 0, 0.0);
    check(rule, &[0.5, 2.0, 1.0, 2.0, 2.0], 1, 0.0);
    check(rule, &[-0.0, 0.0], 0, 0.0);
}

#[test]
fn removed_tokens() {
    let rule = "-inf is less than every other logit, and equal to itself";
    check(rule, &[-INF, -1e38, -INF, -2e38], 1, 1e38);
    check(rule, &[-INF, f32::MIN], 1, INF);
    check(rule, &[-INF, -INF], 0, 0.0);
    check(rule, &[-INF, -INF, -INF], 0, 0.0);
    check(rule, &[f32::MAX, f32::MAX, -INF], 0, 0.0);
    check(rule, &[-INF, f32::MAX, -INF, f32::MAX], 1, 0.0);
    check(rule, &[f32::MIN, f32::MIN, -INF], 0, 0.0);
}

#[test]
fn no_other_token_can_come() {
    let rule = "if there is no other token, or only removed ones, the lead is infinity";
    check(rule, &[7.0], 0, INF);
    check(rule, &[-7.0], 0, INF);
    check(rule, &[-INF], 0, INF);
    check(rule, &[4.0, -INF, -INF], 0, INF);
    check(rule, &[-INF, 0.0], 1, INF);
    check("a lead that no f32 holds is infinity", &[f32::MAX, f32::MIN], 0, INF);
}

#[test]
fn no_logits() {
    check_error("without logits there is no token", &[], Unusable::Empty);
}

#[test]
fn a_nan_is_refused_wherever_it_stands() {
    let rule = "logits with a NaN are refused, and the first NaN is named";
    check_error(rule, &[NAN], Unusable::NotANumber(0));
    for place in 0..4 {
        let mut logits = [1.0, 4.0, 2.0, 3.0];
        logits[place] = NAN;
        check_error(rule, &logits, Unusable::NotANumber(place));
        logits[place] = -NAN;
        check_error(rule, &logits, Unusable::NotANumber(place));
    }
    check_error(rule, &[1.0, NAN, 2.0, NAN], Unusable::NotANumber(1));
    check_error(rule, &[-INF, -INF, NAN], Unusable::NotANumber(2));
}

#[test]
fn nothing_is_greater_and_nothing_before_is_equal() {
    let mut random = Random::new(1);
    for count in 2..100 {
        let logits: Vec<f32> = random.scores(count).iter().map(|score| score.round()).collect();
        let mut sorted = logits.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let token = logits.iter().position(|&logit| logit == sorted[0]).unwrap_or_default();
        check("the first of the greatest, and its lead", &logits, token, sorted[0] - sorted[1]);
    }
}
