use super::softmax::softmax;
use crate::support::{Case, Random};

/// No sink, or a removed token.
const NONE: f32 = f32::NEG_INFINITY;
const TOLERANCE: f32 = 1e-4;

fn check(rule: &str, scores: &[f32], sink: f32, expected: &[f32]) {
    let case = Case::rule(rule).given("scores", scores).given("sink", sink);
    case.close(expected, &softmax(scores, sink), TOLERANCE);
}

#[test]
fn the_formula_on_small_scores() {
    let rule = "without a sink, the probability of i is exp(s_i) / sum_j exp(s_j)";
    let expected = [0.455_054, 0.276_004, 0.167_405, 0.101_536];
    check(rule, &[2.0, 1.5, 1.0, 0.5], NONE, &expected);
    check(rule, &[0.5, 2.0, -1.0], NONE, &[0.175_29, 0.785_597, 0.039_113]);
}

#[test]
fn the_sink_takes_its_share() {
    let rule = "exp(sink) is one more term of the sum, and has no place in the result";
    check(rule, &[0.0, 0.0], 0.0, &[0.333_333, 0.333_333]);
    check(rule, &[2.0, 1.5], 1.0, &[0.506_480, 0.307_196]);
    check(rule, &[2.0, 0.0], 0.0, &[0.786_986, 0.106_507]);
    check(rule, &[1.0], -1.0, &[0.880_797]);
    check(rule, &[-2.0, -3.0], 3.0, &[0.006_676, 0.002_456]);
}

#[test]
fn large_scores_do_not_overflow() {
    let rule = "scores may be too large for exp, and the result is still right";
    check(rule, &[1000.0, 1000.0], NONE, &[0.5, 0.5]);
    check(rule, &[1000.0, 900.0], NONE, &[1.0, 0.0]);
    check(rule, &[1000.0, 999.0], NONE, &[0.731_059, 0.268_941]);
    check(rule, &[999.0, 1000.0], NONE, &[0.268_941, 0.731_059]);
    check(rule, &[f32::MAX, 0.0], NONE, &[1.0, 0.0]);
    check(rule, &[0.0, 1000.0, 500.0], NONE, &[0.0, 1.0, 0.0]);
    check(rule, &[0.0, f32::MAX], NONE, &[0.0, 1.0]);
}

#[test]
fn a_large_sink_does_not_overflow() {
    let rule = "the sink may be too large for exp too, even if the scores are not";
    check(rule, &[0.0, 1.0], 1000.0, &[0.0, 0.0]);
    check(rule, &[999.0, 0.0], 1000.0, &[0.268_941, 0.0]);
    check(rule, &[1000.0], 1000.0, &[0.5]);
    check(rule, &[0.0], f32::MAX, &[0.0]);
    check(rule, &[1000.0], 0.0, &[1.0]);
}

#[test]
fn scores_far_below_zero_do_not_vanish() {
    let rule = "only differences between scores count, even if every exp is 0";
    check(rule, &[-1000.0, -1000.0], NONE, &[0.5, 0.5]);
    check(rule, &[-999.0, -1000.0], NONE, &[0.731_059, 0.268_941]);
    check(rule, &[-1000.0], -999.0, &[0.268_941]);
    check(rule, &[-1000.0, -200.0], NONE, &[0.0, 1.0]);
    check(rule, &[f32::MIN], NONE, &[1.0]);
}

#[test]
fn a_removed_token_gets_nothing() {
    let rule = "a score of -inf gets the probability 0, and keeps its place in the list";
    for (scores, sink, expected) in [
        ([NONE, 3.0, NONE, 3.0], NONE, [0.0, 0.5, 0.0, 0.5]),
        ([NONE, 3.0, NONE, NONE], 3.0, [0.0, 0.5, 0.0, 0.0]),
        ([NONE; 4], -700.0, [0.0; 4]),
        ([NONE, f32::MIN, NONE, NONE], NONE, [0.0, 1.0, 0.0, 0.0]),
        ([NONE, NONE, NONE, NONE], f32::MIN, [0.0; 4]),
    ] {
        let case = Case::rule(rule).given("scores", scores).given("sink", sink);
        let found = softmax(&scores, sink);
        case.close(&expected, &found, TOLERANCE);
        let exact = (0..4).all(|i| scores[i] != NONE || found[i] == 0.0);
        case.holds(exact, "exactly 0 for each score of -inf", &found);
    }
}

#[test]
fn a_single_score_is_certain() {
    for score in [0.0, -1000.0, 1000.0] {
        check("one token alone has the probability 1, without a sink", &[score], NONE, &[1.0]);
    }
}

#[test]
fn the_sum_is_one_and_the_order_stays() {
    let mut random = Random::new(0);
    for count in 1..200 {
        let scores = random.scores(count);
        let case = Case::rule("without a sink the probabilities have the sum 1")
            .given("scores", &scores)
            .given("sink", NONE);
        let found = softmax(&scores, NONE);
        let sum: f64 = found.iter().copied().map(f64::from).sum();
        case.holds((sum - 1.0).abs() < 1e-4, "the sum 1", (sum, &found));

        let case = Case::rule("a greater score has no smaller probability")
            .given("scores", &scores)
            .given("sink", NONE);
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
        let sorted = order.is_sorted_by(|&a, &b| found[a] <= found[b]);
        case.holds(sorted, "probabilities in the order of the scores", &found);
    }
}

#[test]
fn the_sink_is_as_one_more_token() {
    let mut random = Random::new(3);
    for count in 2..40 {
        let scores = random.scores(count);
        let (&sink, tokens) = scores.split_last().expect("at least two");
        let case = Case::rule("a sink takes as much from the others as a token of the same score")
            .given("scores", tokens)
            .given("sink", sink);
        let mut expected = softmax(&scores, NONE);
        expected.pop();
        case.close(&expected, &softmax(tokens, sink), TOLERANCE);
    }
}

#[test]
fn a_large_vocabulary() {
    let case = Case::rule("all tokens count: of 4,000 equal ones, each has 0.00025")
        .given("scores", "4,000 times 3")
        .given("sink", NONE);
    let found = softmax(&[3.0; 4000], NONE);
    case.close(&[0.000_25; 4000], &found, 1e-5);
}
