use super::shuffled_nucleus::shuffled_nucleus;
use crate::support::{Case, Random};

const REMOVED: f32 = f32::NEG_INFINITY;

fn check(rule: &str, scores: &[f32], p: f32, expected: &[f32]) {
    let case = Case::rule(rule).given("scores", scores).given("p", p);
    let mut found = scores.to_vec();
    shuffled_nucleus(&mut found, p);
    case.equal(expected.to_vec(), found);
}

#[test]
fn orders_that_were_tried_before() {
    let rule = "the best tokens stay: in falling order, in rising order, and with two exchanged";
    check(rule, &[2.0, 1.5, 1.0, 0.5], 0.5, &[2.0, 1.5, REMOVED, REMOVED]);
    check(rule, &[0.5, 1.0, 1.5, 2.0], 0.5, &[REMOVED, REMOVED, 1.5, 2.0]);
    check(rule, &[1.5, 2.0, 1.0, 0.5], 0.5, &[1.5, 2.0, REMOVED, REMOVED]);
    check(rule, &[0.5, 1.5, 1.0, 2.0], 0.3, &[REMOVED, REMOVED, REMOVED, 2.0]);
}

#[test]
fn the_best_stay_in_any_order() {
    let rule = "the best tokens stay, with their scores, wherever they stand";
    check(rule, &[1.0, 2.0, 0.5, 1.5], 0.5, &[REMOVED, 2.0, REMOVED, 1.5]);
    check(rule, &[1.5, 0.5, 2.0, 1.0], 0.5, &[1.5, REMOVED, 2.0, REMOVED]);
}

#[test]
fn three_in_a_ring() {
    let rule = "the best tokens stay, with their scores, wherever they stand";
    check(rule, &[1.0, 0.0, 2.0], 0.5, &[REMOVED, REMOVED, 2.0]);
    check(rule, &[0.0, 2.0, 1.0], 0.8, &[REMOVED, 2.0, 1.0]);
}

#[test]
fn random_orders() {
    let mut random = Random::new(10);
    for count in 2..60 {
        let scores = random.scores(count);
        let p = random.float(0.1, 0.95);
        let sum: f64 = scores.iter().map(|&score| f64::from(score).exp()).sum();
        let mut ranked = scores.clone();
        ranked.sort_by(|a, b| b.total_cmp(a));
        let mut mass = 0.0;
        ranked.retain(|&score| {
            let short = mass < f64::from(p);
            mass += f64::from(score).exp() / sum;
            short
        });
        let least = ranked[ranked.len() - 1];
        let expected: Vec<f32> =
            scores.iter().map(|&score| if score >= least { score } else { REMOVED }).collect();
        check("the smallest set of best tokens that reaches p stays", &scores, p, &expected);
    }
}
