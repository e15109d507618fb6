use super::draw::draw;
use crate::support::{Case, Random, in_time};

/// The last point before 1.
const LAST: f64 = 1.0 - f64::EPSILON / 2.0;

/// 2^-26: less than an `f32` can add to 0.5.
const TINY: f32 = 1.0 / 67_108_864.0;

/// Each point by itself.
fn check(rule: &str, probabilities: &[f32], point: f64, expected: usize) {
    check_all(rule, probabilities, &[point], &[expected]);
}

fn check_all(rule: &str, probabilities: &[f32], points: &[f64], expected: &[usize]) {
    let case = Case::rule(rule).given("probabilities", probabilities).given("points", points);
    case.equal(expected.to_vec(), draw(probabilities, points));
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
fn a_token_for_each_point() {
    let rule = "there is a token for each point, in the order of the points";
    check_all(rule, &[0.5, 0.25, 0.25], &[0.9, 0.3, 0.5], &[2, 0, 1]);
    check_all(rule, &[0.5, 0.25, 0.25], &[0.6, 0.9, 0.6, 0.6, 0.0, LAST], &[1, 2, 1, 1, 0, 2]);
    check_all(rule, &[0.5, 0.5], &[], &[]);
}

#[test]
fn a_token_of_probability_zero_never_comes_out() {
    let rule = "a token of probability 0 has no stretch: no point hits it";
    check(rule, &[0.0, 0.5, 0.5], 0.0, 1);
    check(rule, &[0.0, 0.0, 1.0, 0.0], 0.0, 2);
    check(rule, &[0.5, 0.5, 0.0], LAST, 1);
    // Several tokens end at the very point.
    let probabilities = [0.25, 0.0, 0.0, 0.0, 0.25, 0.0, 0.0, 0.5];
    check(rule, &probabilities, 0.25, 4);
    check(rule, &probabilities, 0.5, 7);
    for zeros in 1..9 {
        let mut probabilities = vec![0.0; zeros + 2];
        (probabilities[0], probabilities[zeros + 1]) = (0.5, 0.5);
        check(rule, &probabilities, 0.5, zeros + 1);
    }
}

#[test]
fn a_tiny_probability_is_not_zero() {
    let rule = "a token has a stretch, however short, if its probability is above 0";
    check(rule, &[1e-12, 1.0], 0.0, 0);
    check(rule, &[1e-12, 1.0], 0.5e-12, 0);
    check(rule, &[1e-12, 1.0], 2e-12, 1);
    check(rule, &[0.5, 1e-12, 0.5], 0.5 + 0.25e-12, 1);
    check(rule, &[1e-30, 1e-30, 1.0], 1.5e-30, 1);
}

#[test]
fn a_sum_in_f64() {
    let rule = "the ends of the stretches are sums in f64, and a point is an f64: here tokens 1 to 3 \
                are 2^-26 each";
    let probabilities = [0.5, TINY, TINY, TINY, 0.5 - 4.0 * TINY, TINY];
    for i in 0..3 {
        let point = 0.5 + (f64::from(i) + 0.5) * f64::from(TINY);
        check(rule, &probabilities, point, 1 + i as usize);
    }
    check(rule, &probabilities, 1.0 - 1.5 * f64::from(TINY), 4);
    check(rule, &probabilities, 1.0 - 0.5 * f64::from(TINY), 5);
}

#[test]
fn a_line_that_is_a_little_too_short() {
    let rule = "a point after the end of the line belongs to the last token that has a stretch";
    let short = 0.25 - 1.0 / 1_048_576.0;
    check(rule, &[0.5, 0.25, short], LAST, 2);
    check(rule, &[0.5, 0.25, short, 0.0, 0.0], LAST, 2);
    check(rule, &[0.5, short, 0.0, 0.25], LAST, 3);
    check(rule, &[0.5, short, 0.0, 1e-12, 0.0], LAST, 3);
}

#[test]
fn a_line_that_is_a_little_too_long() {
    let rule = "the line may be a little longer than 1: no point lies on its end then";
    let long = 0.25 + 1.0 / 1_048_576.0;
    check(rule, &[0.5, long, 0.25], 0.5, 1);
    check(rule, &[0.5, long, 0.25], LAST, 2);
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
    let points: Vec<f64> = (0..1024).map(|i| f64::from(i) / 1024.0).collect();
    let found = draw(&probabilities, &points);
    let counts = [0, 1, 2, 3, 4].map(|id| found.iter().filter(|&&token| token == id).count());
    case.equal([128, 0, 512, 64, 320], counts);
}

#[test]
fn random_distributions() {
    let mut random = Random::new(3);
    for count in 1..60 {
        let weights: Vec<f32> = (0..count).map(|_| random.float(0.01, 1.0)).collect();
        let sum: f32 = weights.iter().sum();
        let probabilities: Vec<f32> = weights.iter().map(|weight| weight / sum).collect();
        let expected: Vec<usize> = (0..8).map(|_| random.below(count)).collect();
        let middle = |&token: &usize| {
            let before: f64 = probabilities[..token].iter().copied().map(f64::from).sum();
            before + f64::from(probabilities[token]) / 2.0
        };
        let points: Vec<f64> = expected.iter().map(middle).collect();
        let rule = "the middle of a token's stretch is that token's";
        check_all(rule, &probabilities, &points, &expected);
    }
}

#[test]
fn many_points_on_a_long_line() {
    const COUNT: usize = 1 << 17;
    let case = Case::rule("many points on a long line do not take a walk each")
        .given("probabilities", format!("{COUNT} times 2^-17"))
        .given("points", format!("the middles of the {COUNT} stretches, the last one first"));
    let found = in_time(&case, || {
        let probabilities = vec![1.0 / COUNT as f32; COUNT];
        let middle = |token: usize| (token as f64 + 0.5) / COUNT as f64;
        draw(&probabilities, &(0..COUNT).rev().map(middle).collect::<Vec<f64>>())
    });
    let right = found.iter().copied().eq((0..COUNT).rev());
    let ends = (found.first(), found.last());
    case.holds(right, &format!("{}, {}, ..., 1, 0", COUNT - 1, COUNT - 2), ends);
}
