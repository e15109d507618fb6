use super::keep_top_k::keep_top_k;
use crate::support::{Case, Random};

const REMOVED: f32 = f32::NEG_INFINITY;

fn check(rule: &str, scores: &[f32], k: usize, expected: &[f32]) {
    let case = Case::rule(rule).given("scores", scores).given("k", k);
    let mut found = scores.to_vec();
    keep_top_k(&mut found, k);
    case.equal(expected.to_vec(), found);
}

#[test]
fn the_best_stay_in_their_places() {
    let rule = "the k highest scores stay as they are and where they are, all others become -inf";
    check(rule, &[1.0, 4.0, 3.0, 2.0], 2, &[REMOVED, 4.0, 3.0, REMOVED]);
    check(rule, &[2.0, 1.5, 1.0, 0.5], 3, &[2.0, 1.5, 1.0, REMOVED]);
}

#[test]
fn scores_below_zero_are_scores_too() {
    let rule = "only the order of the scores counts, not their sign";
    check(rule, &[-3.0, -1.0, -2.0], 2, &[REMOVED, -1.0, -2.0]);
    check(rule, &[-1.0, 0.0, 1.0], 1, &[REMOVED, REMOVED, 1.0]);
}

#[test]
fn ties_with_the_last_one_all_stay() {
    let rule = "a token with the same score as the k-th best stays, so more than k may stay";
    check(rule, &[3.0, 4.0, 3.0, 2.0], 2, &[3.0, 4.0, 3.0, REMOVED]);
    check(rule, &[1.0, 1.0, 1.0], 1, &[1.0, 1.0, 1.0]);
}

#[test]
fn ties_above_the_edge_are_counted_one_by_one() {
    let rule = "equal scores above the k-th best are several tokens, and not one";
    check(rule, &[5.0, 5.0, 4.0, 3.0], 2, &[5.0, 5.0, REMOVED, REMOVED]);
    check(rule, &[5.0, 4.0, 5.0, 3.0], 3, &[5.0, 4.0, 5.0, REMOVED]);
}

#[test]
fn k_may_be_as_large_as_the_vocabulary_or_larger() {
    for k in [2, 3, 1000] {
        let rule = "where k is not less than the vocabulary, nothing is removed";
        check(rule, &[1.0, 4.0], k, &[1.0, 4.0]);
    }
}

#[test]
fn what_was_removed_before_does_not_come_back() {
    let rule = "a score of -inf stays -inf, also where k is more than the tokens that are left";
    check(rule, &[REMOVED, 1.0, REMOVED, 2.0], 1, &[REMOVED, REMOVED, REMOVED, 2.0]);
    check(rule, &[REMOVED, 1.0, REMOVED, 2.0], 3, &[REMOVED, 1.0, REMOVED, 2.0]);
}

#[test]
fn random_scores_with_many_ties() {
    let mut random = Random::new(2);
    for count in 1..40 {
        let scores: Vec<f32> = (0..count).map(|_| random.below(8) as f32 - 4.0).collect();
        let k = 1 + random.below(count);
        let mut sorted = scores.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let stays = |&score: &f32| {
            if score >= sorted[k - 1] {
                score
            } else {
                REMOVED
            }
        };
        let expected: Vec<f32> = scores.iter().map(stays).collect();
        check("a token stays where its score is at least the k-th best", &scores, k, &expected);
    }
}
