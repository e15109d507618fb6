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
fn a_little_more_than_half_is_half() {
    let rule = "two tokens, and the better one has a little more than half: it is enough";
    check(rule, &[0.0, 0.001], 0.5, &[REMOVED, 0.001]);
}

#[test]
fn a_sum_of_exactly_p_is_enough() {
    let scores = [1.0, 2.0, 0.5, 1.5];
    let best = slowburn::sampling::softmax(&scores)[1];
    let rule = "the best token has exactly the probability p: it is enough";
    check(rule, &scores, best, &[REMOVED, 2.0, REMOVED, REMOVED]);
}

#[test]
fn as_many_stay_as_it_takes() {
    let rule = "as many stay as it takes, however many that are";
    let mut scores: Vec<f32> = (0..100).map(|i| i as f32 * 1e-3).collect();
    scores.swap(0, 70);
    scores.swap(70, 20);
    let expected: Vec<f32> =
        scores.iter().map(|&score| if score > 0.0095 { score } else { REMOVED }).collect();
    check(rule, &scores, 0.9, &expected);
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
