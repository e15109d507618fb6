use super::draw::draw;
use crate::support::{Case, Random};

/// The last point before 1.
const LAST: f64 = 1.0 - f64::EPSILON / 2.0;

fn check(rule: &str, probabilities: &[f32], point: f64, expected: usize) {
    let case = Case::rule(rule).given("probabilities", probabilities).given("point", point);
    case.equal(expected, draw(probabilities, point));
}

#[test]
fn the_token_on_whose_stretch_the_point_lies() {
    let rule = "the token is the one on whose stretch the point lies";
    for (point, expected) in [(0.0, 0), (0.3, 0), (0.6, 1), (0.8, 2), (0.99, 2)] {
        check(rule, &[0.5, 0.25, 0.25], point, expected);
    }
    for (point, expected) in [(0.1, 0), (0.2, 1), (0.6, 1), (0.7, 2)] {
        check(rule, &[0.125, 0.5, 0.375], point, expected);
    }
}

#[test]
fn a_stretch_has_its_start_and_not_its_end() {
    let rule = "a point between two stretches belongs to the second";
    for (point, expected) in [(0.5, 1), (0.75, 2)] {
        check(rule, &[0.5, 0.25, 0.25], point, expected);
    }
}

#[test]
fn a_token_of_probability_zero_never_comes_out() {
    let rule = "a token of probability 0 has no stretch: no point is its own";
    check(rule, &[0.0, 0.5, 0.5], 0.0, 1);
    check(rule, &[0.5, 0.0, 0.5], 0.5, 2);
    check(rule, &[0.5, 0.5, 0.0], LAST, 1);
}

#[test]
fn a_line_that_is_a_little_too_short() {
    let rule = "a point after the end of the line belongs to the last token that has a stretch";
    let short = 0.25 - 1.0 / 1_048_576.0;
    check(rule, &[0.5, 0.25, short], LAST, 2);
    check(rule, &[0.5, 0.25, short, 0.0, 0.0], LAST, 2);
    check(rule, &[0.5, short, 0.0, 0.25], LAST, 3);
}

#[test]
fn the_first_and_the_last_point() {
    for count in [1, 2, 3, 7, 100] {
        let probabilities = vec![1.0 / count as f32; count];
        check("the point 0 is the first token's", &probabilities, 0.0, 0);
        check("the last point is the last token's", &probabilities, LAST, count - 1);
    }
}

#[test]
fn tokens_come_as_often_as_their_probabilities_say() {
    let probabilities = [0.125, 0.0, 0.5, 0.0625, 0.3125];
    let case = Case::rule("of 1024 points at equal distances, each token gets its share")
        .given("probabilities", probabilities)
        .given("points", "0/1024, 1/1024, ..., 1023/1024");
    let mut counts = [0; 5];
    for i in 0..1024 {
        counts[draw(&probabilities, f64::from(i) / 1024.0)] += 1;
    }
    case.equal([128, 0, 512, 64, 320], counts);
}

#[test]
fn random_distributions() {
    let mut random = Random::new(3);
    for count in 1..60 {
        let weights: Vec<f32> = (0..count).map(|_| random.float(0.0, 1.0)).collect();
        let sum: f32 = weights.iter().sum();
        let probabilities: Vec<f32> = weights.iter().map(|weight| weight / sum).collect();
        let expected = random.below(count);
        let before: f64 = probabilities[..expected].iter().copied().map(f64::from).sum();
        let point = before + f64::from(probabilities[expected]) / 2.0;
        check(
            "the middle of a token's stretch is that token's",
            &probabilities,
            point,
            expected,
        );
    }
}
