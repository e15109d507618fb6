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
    let rule = "the example above the function: the queue ends at the joining, TTFT counts from the submission, TPOT is the mean of the gaps";
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
    check(rule, (0, 0, &[400, 410, 420, 1000]), (0, Some(400), Some(200)));
    check(rule, (0, 0, &[400, 400, 400]), (0, Some(400), Some(0)));
    let tokens: Vec<u64> = (0..1001).map(|n| 400 + 3 * n).collect();
    check("a text may be long", (0, 0, &tokens), (0, Some(400), Some(3)));
}

#[test]
fn times_are_exact() {
    let nanos = Duration::from_nanos;
    let timeline = Timeline {
        submitted: nanos(1_000_000_001),
        joined: nanos(1_000_000_016),
        tokens: [1_000_000_100, 1_000_000_107, 1_000_000_114].map(nanos).to_vec(),
    };
    let case = Case::rule("times are given to the nanosecond").given("timeline", &timeline);
    let expected = Timings {
        queue: nanos(15),
        ttft: Some(nanos(99)),
        tpot: Some(nanos(7)),
    };
    case.equal(expected, timings(&timeline));
}

#[test]
fn only_the_mean_of_all_gaps_is_rounded() {
    for (tokens, tpot) in [
        (vec![0, 1, 3, 6], 2),
        (vec![0, 5, 5, 6], 2),
        (vec![3, 4, 4, 4, 7], 1),
    ] {
        let timeline = Timeline {
            submitted: Duration::ZERO,
            joined: Duration::ZERO,
            tokens: tokens.into_iter().map(Duration::from_nanos).collect(),
        };
        let case = Case::rule("a mean that is a whole number of nanoseconds is not rounded")
            .given("timeline", &timeline);
        case.equal(Some(Duration::from_nanos(tpot)), timings(&timeline).tpot);
    }
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

#[test]
fn limit_times_are_exact_after_a_year() {
    // More nanoseconds than an f64 counts.
    let nanos = Duration::from_nanos;
    let year = 31_536_000_000_000_000;
    let timeline = Timeline {
        submitted: nanos(year + 1),
        joined: nanos(year + 4),
        tokens: vec![nanos(year + 6), nanos(2 * year + 9)],
    };
    let case = Case::rule("times are given to the nanosecond, however late it is")
        .given("timeline", &timeline);
    let expected = Timings {
        queue: nanos(3),
        ttft: Some(nanos(5)),
        tpot: Some(nanos(year + 3)),
    };
    case.equal(expected, timings(&timeline));
}
