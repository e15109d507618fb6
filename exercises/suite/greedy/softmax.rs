use super::softmax::softmax;
use crate::support::{Case, Random};

const TOLERANCE: f32 = 1e-6;

#[test]
fn the_formula_on_small_scores() {
    let scores = [2.0, 1.5, 1.0, 0.5];
    let case =
        Case::rule("the probability of i is exp(s_i) / sum_j exp(s_j)").given("scores", scores);
    case.close(&[0.455_054, 0.276_004, 0.167_405, 0.101_536], &softmax(&scores), 2e-6);
}

#[test]
fn large_scores_do_not_overflow() {
    for (scores, expected) in [
        ([1000.0, 1000.0], [0.5, 0.5]),
        ([1000.0, 900.0], [1.0, 0.0]),
        ([1001.0, 1000.0], [0.731_059, 0.268_941]),
        ([f32::MAX, 0.0], [1.0, 0.0]),
    ] {
        let case = Case::rule("scores may be too large for exp, and the result is still right")
            .given("scores", scores);
        case.close(&expected, &softmax(&scores), TOLERANCE);
    }
}

#[test]
fn scores_far_below_zero_do_not_vanish() {
    for (scores, expected) in [
        ([-1000.0, -1000.0], [0.5, 0.5]),
        ([-1000.0, -1001.0], [0.731_059, 0.268_941]),
    ] {
        let case = Case::rule("only differences between scores count, also where every exp is 0")
            .given("scores", scores);
        case.close(&expected, &softmax(&scores), TOLERANCE);
    }
}

#[test]
fn a_removed_token_gets_nothing() {
    let scores = [f32::NEG_INFINITY, 3.0, f32::NEG_INFINITY, 3.0];
    let case =
        Case::rule("a score of -inf gets the probability 0, and keeps its place in the list")
            .given("scores", scores);
    case.equal(vec![0.0, 0.5, 0.0, 0.5], softmax(&scores));
}

#[test]
fn a_single_score_is_certain() {
    for score in [0.0, -1000.0, 1000.0] {
        let case = Case::rule("one token alone has the probability 1").given("scores", [score]);
        case.equal(vec![1.0], softmax(&[score]));
    }
}

#[test]
fn the_sum_is_one_and_the_order_stays() {
    let mut random = Random::new(0);
    for count in 1..200 {
        let scores = random.scores(count);
        let case = Case::rule("the probabilities have the sum 1").given("scores", &scores);
        let found = softmax(&scores);
        let sum: f64 = found.iter().copied().map(f64::from).sum();
        case.holds((sum - 1.0).abs() < 1e-5, "the sum 1", (sum, &found));

        let case =
            Case::rule("a greater score has no smaller probability").given("scores", &scores);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        let sorted = order.is_sorted_by(|&a, &b| found[a] <= found[b]);
        case.holds(sorted, "probabilities in the order of the scores", &found);
    }
}
