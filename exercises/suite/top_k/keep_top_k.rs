use super::keep_top_k::keep_top_k;
use crate::support::{Case, Random};

const REMOVED: f32 = f32::NEG_INFINITY;

fn check_with(rule: &str, scores: &[f32], k: usize, always: &[u32], expected: &[f32]) {
    let case = Case::rule(rule).given("scores", scores).given("k", k).given("always", always);
    let mut found = scores.to_vec();
    keep_top_k(&mut found, k, always);
    case.equal(expected.to_vec(), found);
}

fn check(rule: &str, scores: &[f32], k: usize, expected: &[f32]) {
    check_with(rule, scores, k, &[], expected);
}

#[test]
fn the_best_stay_in_their_places() {
    let rule = "the k highest scores stay as they are and where they are, all others become -inf";
    check(rule, &[1.0, 4.0, 3.0, 2.0], 2, &[REMOVED, 4.0, 3.0, REMOVED]);
    check(rule, &[2.0, 1.5, 1.0, 0.5], 3, &[2.0, 1.5, 1.0, REMOVED]);
    check(rule, &[1.0, 1.000_000_1], 1, &[REMOVED, 1.000_000_1]);
}

#[test]
fn scores_below_zero_are_scores_too() {
    let rule = "only the order of the scores counts, not their sign";
    check(rule, &[-3.0, -1.0, -2.0], 2, &[REMOVED, -1.0, -2.0]);
    check(rule, &[-1.0, 0.0, 1.0], 1, &[REMOVED, REMOVED, 1.0]);
    check(rule, &[-3e38, 3e38, -2e38], 2, &[REMOVED, 3e38, -2e38]);
}

#[test]
fn ties_with_the_last_one_all_stay() {
    let rule = "a token with the same score as the k-th best stays, so more than k may stay";
    check(rule, &[3.0, 4.0, 3.0, 2.0], 2, &[3.0, 4.0, 3.0, REMOVED]);
    check(rule, &[1.0, 1.0, 1.0], 1, &[1.0, 1.0, 1.0]);
    check(rule, &[0.0, -0.0, -1.0], 1, &[0.0, -0.0, REMOVED]);
}

#[test]
fn ties_above_the_edge_are_counted_one_by_one() {
    let rule = "equal scores above the k-th best are several tokens, and not one";
    check(rule, &[5.0, 5.0, 4.0, 3.0], 2, &[5.0, 5.0, REMOVED, REMOVED]);
    check(rule, &[5.0, 4.0, 5.0, 3.0], 3, &[5.0, 4.0, 5.0, REMOVED]);
}

#[test]
fn k_may_be_as_large_as_the_vocabulary_or_larger() {
    for k in [2, 3, 1000, 65_537, usize::MAX] {
        let rule = "if k is not less than the vocabulary, nothing is removed";
        check(rule, &[1.0, 4.0], k, &[1.0, 4.0]);
    }
}

#[test]
fn what_was_removed_before_does_not_come_back() {
    let rule = "a score of -inf stays -inf, even if k is more than the tokens that are left";
    check(rule, &[REMOVED, 1.0, REMOVED, 2.0], 1, &[REMOVED, REMOVED, REMOVED, 2.0]);
    check(rule, &[REMOVED, 1.0, REMOVED, 2.0], 3, &[REMOVED, 1.0, REMOVED, 2.0]);
    check_with(rule, &[REMOVED, 1.0, 3.0], 1, &[0], &[REMOVED, REMOVED, 3.0]);
}

#[test]
fn tokens_that_always_stay() {
    let rule = "a token in `always` stays, whatever its score is";
    check_with(rule, &[1.0, 4.0, 3.0, 2.0], 1, &[0], &[1.0, 4.0, REMOVED, REMOVED]);
    check_with(rule, &[1.0, 4.0, 3.0, 2.0], 1, &[3, 0], &[1.0, 4.0, REMOVED, 2.0]);
    check_with(rule, &[1.0, 4.0, -8.0, 2.0], 1, &[2, 2, 2], &[REMOVED, 4.0, -8.0, REMOVED]);
    let scores: Vec<f32> = (0..300).map(|id| -(id as f32)).collect();
    let mut expected = vec![REMOVED; 300];
    (expected[0], expected[43], expected[299]) = (0.0, -43.0, -299.0);
    check_with(rule, &scores, 1, &[299, 43], &expected);
}

#[test]
fn a_vocabulary_may_be_large() {
    let case = Case::rule("an id is a number like any other: 900 is not 132, its lower 8 bits")
        .given("scores", "0, -1, -2, ..., -999")
        .given("k", 1)
        .given("always", [900]);
    let mut scores: Vec<f32> = (0..1000_u16).map(|id| -f32::from(id)).collect();
    keep_top_k(&mut scores, 1, &[900]);
    let stay: Vec<usize> = (0..1000).filter(|&id| scores[id] > REMOVED).collect();
    case.equal(("ids that stay", vec![0, 900]), ("ids that stay", stay));
}

#[test]
fn who_always_stays_takes_no_place() {
    let rule = "a token in `always` takes no place from the k best of the rest";
    check_with(rule, &[1.0, 4.0, 3.0, 2.0], 1, &[1], &[REMOVED, 4.0, 3.0, REMOVED]);
    check_with(rule, &[1.0, 4.0, 3.0, 2.0], 2, &[1, 0], &[1.0, 4.0, 3.0, 2.0]);
    check_with(rule, &[5.0, 4.0, 3.0, 2.0, 1.0], 2, &[0, 0], &[5.0, 4.0, 3.0, REMOVED, REMOVED]);
    let rule = "a token in `always` is not the k-th best, and nothing is a tie with it";
    check_with(rule, &[3.0, 3.0, 4.0], 1, &[0], &[3.0, REMOVED, 4.0]);
}

#[test]
fn a_k_that_is_more_than_the_rest() {
    let rule = "if k is not less than the number of the rest, nothing is removed";
    for k in [2, 3, 4, 5, usize::MAX] {
        check_with(rule, &[1.0, 4.0, 3.0, 2.0], k, &[1, 2], &[1.0, 4.0, 3.0, 2.0]);
    }
    check_with(rule, &[1.0, 4.0], 1, &[0, 1], &[1.0, 4.0]);
}

#[test]
fn random_scores_with_many_ties() {
    let mut random = Random::new(2);
    for count in 1..40 {
        let scores: Vec<f32> = (0..count).map(|_| random.below(8) as f32 - 4.0).collect();
        let k = 1 + random.below(count);
        let always: Vec<u32> = (0..random.below(4)).map(|_| random.below(count) as u32).collect();
        let stays = |id: usize| {
            let better =
                |&other: &usize| !always.contains(&(other as u32)) && scores[other] > scores[id];
            always.contains(&(id as u32)) || (0..count).filter(better).count() < k
        };
        let expected: Vec<f32> =
            (0..count).map(|id| if stays(id) { scores[id] } else { REMOVED }).collect();
        let rule = "a token stays if it is in `always`, or if fewer than k of the rest are better";
        check_with(rule, &scores, k, &always, &expected);
    }
}
