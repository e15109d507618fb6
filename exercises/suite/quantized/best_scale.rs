use super::best_scale::best_scale;
use crate::support::{Case, Random};

fn case(rule: &str, weights: &[f32], integers: &[i8]) -> Case {
    Case::rule(rule).given("weights", weights).given("integers", integers)
}

#[track_caller]
fn check(rule: &str, weights: &[f32], integers: &[i8], expected: f32) {
    let case = case(rule, weights, integers);
    case.close(&[expected], &[best_scale(weights, integers)], 1e-5);
}

#[test]
fn a_worked_example() {
    check("1.4 has the least sum of squares", &[3.0, 1.0], &[2, 1], 1.4);
}

#[test]
fn where_the_integers_fit_the_scale_is_theirs() {
    let rule = "if all weights are multiples of one scale, it is that scale";
    check(rule, &[0.75, -2.0, 0.0, 0.5], &[3, -8, 0, 2], 0.25);
    check(rule, &[5.0], &[-7], -5.0 / 7.0);
    check(rule, &[3.0, 0.2], &[1, 0], 3.0);
}

#[test]
fn a_scale_may_be_negative() {
    check("the signs of weights and integers count", &[-3.0, -1.0], &[2, 1], -1.4);
    check("a weight against its integer pulls the scale down", &[2.0, -1.0], &[1, 1], 0.5);
}

#[test]
fn weights_at_the_integer_zero_do_not_count() {
    check(
        "no scale changes what is stored as 0",
        &[3.0, 1.0, 0.4, -0.3],
        &[2, 1, 0, 0],
        1.4,
    );
}

#[test]
fn integers_of_zero_have_the_scale_zero() {
    check("if all integers are 0, the scale is 0", &[0.1, -0.2], &[0, 0], 0.0);
    check("if all integers are 0, the scale is 0", &[], &[], 0.0);
}

#[test]
fn integers_may_be_any() {
    let rule = "integers are from -128 to 127, and there may be many";
    check(rule, &[64.0, -63.5], &[-128, 127], -0.5);
    check(rule, &[63.5; 300], &[127; 300], 0.5);
}

#[test]
fn great_integers_count_more() {
    let rule =
        "a step of the scale moves what is stored as 10 ten times as far as what is stored as 1";
    check(rule, &[10.0, 2.0], &[10, 1], 102.0 / 101.0);
}

#[test]
fn no_other_scale_is_better() {
    let mut random = Random::new(5);
    for length in [2, 8, 32] {
        let integers: Vec<i8> = (0..length).map(|_| random.below(16) as i8 - 8).collect();
        let weight = |integer: &i8| 0.2 * (f32::from(*integer) + random.float(-0.5, 0.5));
        let weights: Vec<f32> = integers.iter().map(weight).collect();
        let error = |scale: f32| -> f64 {
            let errors = weights.iter().zip(&integers).map(|(w, i)| w - scale * f32::from(*i));
            errors.map(|error| f64::from(error).powi(2)).sum()
        };
        let case = case("no other scale has a smaller sum of squares", &weights, &integers);
        let best = best_scale(&weights, &integers);
        for other in [0.9, 0.99, 1.01, 1.1].map(|factor| factor * best) {
            let found = format!("{best} with {}, {other} with {}", error(best), error(other));
            case.holds(error(best) < error(other), "a smaller sum than next to it", found);
        }
    }
}
