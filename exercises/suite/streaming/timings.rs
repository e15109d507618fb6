use std::time::Duration;

use super::timings::{Timeline, Timings, timings};
use crate::support::{Case, Random};

/// All times in milliseconds.
fn check(
    rule: &str,
    (submitted, joined, tokens): (u64, u64, &[u64]),
    (queue, ttft, tpot): (u64, Option<u64>, Option<u64>),
) {
    let timeline = Timeline {
        submitted: Duration::from_millis(submitted),
        joined: Duration::from_millis(joined),
        tokens: tokens.iter().copied().map(Duration::from_millis).collect(),
    };
    let case = Case::rule(rule).given("timeline", &timeline);
    let expected = Timings {
        queue: Duration::from_millis(queue),
        ttft: ttft.map(Duration::from_millis),
        tpot: tpot.map(Duration::from_millis),
    };
    case.equal(expected, timings(&timeline));
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example of the task";
    check(rule, (1000, 1500, &[2000, 2250, 2500]), (500, Some(1000), Some(250)));
}

#[test]
fn nobody_waits_in_the_queue() {
    let rule = "without a queue, TTFT is what the first token took";
    check(rule, (0, 0, &[400, 450]), (0, Some(400), Some(50)));
}

#[test]
fn the_queue_is_a_part_of_ttft() {
    let rule = "TTFT counts from the submission, and so does the queue time";
    check(rule, (0, 3000, &[3400, 3450]), (3000, Some(3400), Some(50)));
    check(rule, (7000, 9000, &[9500, 9600]), (2000, Some(2500), Some(100)));
}

#[test]
fn gaps_are_one_fewer_than_tokens() {
    let rule = "n tokens have n - 1 gaps, and TPOT is their mean";
    check(rule, (0, 0, &[400, 500]), (0, Some(400), Some(100)));
    check(rule, (0, 0, &[400, 500, 800, 1300]), (0, Some(400), Some(300)));
}

#[test]
fn one_token_has_no_gap() {
    check("one token has a TTFT, and no TPOT", (100, 200, &[600]), (100, Some(500), None));
}

#[test]
fn no_token_has_neither() {
    check(
        "without a token there is neither TTFT nor TPOT",
        (100, 200, &[]),
        (100, None, None),
    );
}

#[test]
fn the_formula_of_the_chapter() {
    let mut random = Random::new(0);
    for count in 2..30 {
        let mut below = |end: usize| random.below(end) as u64;
        let (submitted, queue, prefill, tpot) = (below(500), below(500), 1 + below(500), below(90));
        let ttft = queue + prefill;
        let tokens: Vec<u64> = (0..count).map(|n| submitted + ttft + n * tpot).collect();
        let rule = "token n is there TTFT + (n - 1) * TPOT after the submission";
        let timeline = (submitted, submitted + queue, tokens.as_slice());
        check(rule, timeline, (queue, Some(ttft), Some(tpot)));
    }
}
