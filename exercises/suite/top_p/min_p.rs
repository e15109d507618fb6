use super::min_p::min_p;
use crate::support::{Case, Random};

const REMOVED: f32 = f32::NEG_INFINITY;

fn check(rule: &str, scores: &[f32], share: f32, expected: &[f32]) {
    let case = Case::rule(rule).given("scores", scores).given("share", share);
    let mut found = scores.to_vec();
    min_p(&mut found, share);
    case.equal(expected.to_vec(), found);
}

#[test]
fn tokens_that_are_too_unlikely_go() {
    let rule = "a token stays if its probability is at least share times the greatest one";
    check(rule, &[2.0, 1.5, 1.0, 0.5], 0.5, &[2.0, 1.5, REMOVED, REMOVED]);
    check(rule, &[2.0, 1.5, 1.0, 0.5], 0.3, &[2.0, 1.5, 1.0, REMOVED]);
    check(rule, &[2.0, 1.5, 1.0, 0.5], 0.1, &[2.0, 1.5, 1.0, 0.5]);
    check(rule, &[0.5, 4.0, 1.0, 2.0], 0.1, &[REMOVED, 4.0, REMOVED, 2.0]);
}

#[test]
fn it_is_a_share_of_the_best_and_not_of_all() {
    let rule = "if no token is likely, unlikely ones stay: only the best one counts";
    check(rule, &[1.0; 20], 0.1, &[1.0; 20]);
}

#[test]
fn only_differences_count() {
    let rule = "adding the same number to all scores changes no probability, and so removes no other token";
    check(rule, &[-8.0, -8.5, -9.0, -9.5], 0.5, &[-8.0, -8.5, REMOVED, REMOVED]);
    check(rule, &[0.0, -0.5, -1.0, -1.5], 0.5, &[0.0, -0.5, REMOVED, REMOVED]);
    check(rule, &[1000.0, 999.5, 999.0, 0.0], 0.5, &[1000.0, 999.5, REMOVED, REMOVED]);
}

#[test]
fn a_share_of_one_keeps_the_equals_of_the_best() {
    let rule = "a token that is exactly share times as likely stays";
    check(rule, &[2.0, 1.5, 2.0, 0.5], 1.0, &[2.0, REMOVED, 2.0, REMOVED]);
    check(rule, &[-1.0, -3.0], 1.0, &[-1.0, REMOVED]);
}

#[test]
fn a_small_share_and_scores_far_apart() {
    let rule = "a token stays if its probability is at least share times the greatest one";
    check(rule, &[0.0, -11.0, -12.0, -20.0], 1e-5, &[0.0, -11.0, REMOVED, REMOVED]);
    check(rule, &[300.0, 290.0, 100.0, -300.0], 1e-5, &[300.0, 290.0, REMOVED, REMOVED]);
    check(rule, &[0.0, -0.04, -0.06], 0.95, &[0.0, -0.04, REMOVED]);
}

#[test]
fn the_edge_is_where_the_share_is() {
    let rule =
        "ln 0.25 is -1.386294: what is a little above stays, and what is a little below goes";
    check(rule, &[0.0, -1.3858, -1.3868], 0.25, &[0.0, -1.3858, REMOVED]);
}

#[test]
fn what_stays_keeps_its_score() {
    let rule = "a score that stays is not changed, however large it is";
    check(rule, &[2000.0, 1999.5, 1999.0], 0.5, &[2000.0, 1999.5, REMOVED]);
    check(rule, &[-2000.0, -2000.5, -2001.0], 0.5, &[-2000.0, -2000.5, REMOVED]);
    check(rule, &[11.3, 0.1, -0.7, -0.3], 1e-5, &[11.3, 0.1, REMOVED, REMOVED]);
    check(rule, &[3.3, 0.01, 1.1], 0.01, &[3.3, 0.01, 1.1]);
}

#[test]
fn what_was_removed_stays_removed() {
    let rule = "a score of -inf stays -inf";
    check(rule, &[REMOVED, -5.0, REMOVED, -5.1], 0.5, &[REMOVED, -5.0, REMOVED, -5.1]);
    check(rule, &[REMOVED, 1.0, REMOVED, 0.9], 0.5, &[REMOVED, 1.0, REMOVED, 0.9]);
}

#[test]
fn random_scores() {
    let mut random = Random::new(8);
    for count in 1..60 {
        let scores = random.scores(count);
        let share = random.float(0.01, 0.9);
        let best = scores.iter().copied().fold(REMOVED, f32::max);
        let ratio = |score: f32| f64::from(score - best).exp();
        let expected: Vec<f32> = scores
            .iter()
            .map(|&score| {
                if ratio(score) >= f64::from(share) {
                    score
                } else {
                    REMOVED
                }
            })
            .collect();
        let rule = "a token stays if its probability is at least share times the greatest one";
        check(rule, &scores, share, &expected);
    }
}
