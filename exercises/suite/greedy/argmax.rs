use super::argmax::{Unusable, argmax};
use crate::support::{Case, Random};

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;

fn check(rule: &str, logits: &[f32], expected: Result<usize, Unusable>) {
    let case = Case::rule(rule).given("logits", logits);
    case.equal(expected, argmax(logits));
}

#[test]
fn the_place_of_the_greatest() {
    let rule = "the result is the place of the greatest logit";
    check(rule, &[2.0, 1.5, 1.0], Ok(0));
    check(rule, &[1.0, 2.0, 1.5], Ok(1));
    check(rule, &[1.0, 1.5, 2.0], Ok(2));
    check(rule, &[7.0], Ok(0));
}

#[test]
fn logits_below_zero() {
    let rule = "the greatest logit is found also where all are below zero";
    check(rule, &[-3.0, -1.0, -2.0], Ok(1));
    check(rule, &[-3.0], Ok(0));
    check(rule, &[-2e38, -3e38, -1e38], Ok(2));
}

#[test]
fn the_first_of_equals() {
    let rule = "of equals, the first is taken";
    check(rule, &[1.0, 1.0], Ok(0));
    check(rule, &[0.5, 2.0, 1.0, 2.0, 2.0], Ok(1));
    check(rule, &[-0.0, 0.0], Ok(0));
}

#[test]
fn removed_tokens() {
    let rule = "-inf is less than every other logit, and equal to itself";
    check(rule, &[-INF, -1e38, -INF], Ok(1));
    check(rule, &[-INF, -INF], Ok(0));
}

#[test]
fn no_logits() {
    check("without logits there is no token", &[], Err(Unusable::Empty));
}

#[test]
fn a_nan_is_refused_wherever_it_stands() {
    let rule = "logits with a NaN are refused, and the first NaN is named";
    check(rule, &[NAN], Err(Unusable::NotANumber(0)));
    for place in 0..4 {
        let mut logits = [1.0, 4.0, 2.0, 3.0];
        logits[place] = NAN;
        check(rule, &logits, Err(Unusable::NotANumber(place)));
        logits[place] = -NAN;
        check(rule, &logits, Err(Unusable::NotANumber(place)));
    }
    check(rule, &[1.0, NAN, 2.0, NAN], Err(Unusable::NotANumber(1)));
}

#[test]
fn nothing_is_greater_and_nothing_before_is_equal() {
    let mut random = Random::new(1);
    for count in 1..100 {
        let logits: Vec<f32> = random.scores(count).iter().map(|score| score.round()).collect();
        let case =
            Case::rule("no logit is greater, and none before it is equal").given("logits", &logits);
        let found = argmax(&logits);
        let right = found.is_ok_and(|best| {
            logits.get(best).is_some_and(|&greatest| {
                logits.iter().all(|&logit| logit <= greatest)
                    && logits[..best].iter().all(|&logit| logit < greatest)
            })
        });
        case.holds(right, "the first of the greatest", found);
    }
}
