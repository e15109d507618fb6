use std::time::Duration;

use super::token_bucket::{Answer, TokenBucket};
use crate::support::{Case, Random};

use Answer::{Never, RetryAfter, Taken};

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// A bucket that is full at 0 s, and the answer to each call: (cost, now).
fn check(
    rule: &str,
    (capacity, per_second): (u32, u32),
    calls: &[(u32, Duration)],
    expected: &[Answer],
) {
    let case = Case::rule(rule)
        .given("capacity", capacity)
        .given("per_second", per_second)
        .given("calls: (cost, now)", calls);
    let mut bucket = TokenBucket::new(capacity, per_second, Duration::ZERO);
    for (i, (&(cost, now), expected)) in calls.iter().zip(expected).enumerate() {
        case.step(format!("call {} of {}: take({cost}, {now:?})", i + 1, calls.len()));
        case.equal(expected, &bucket.take(cost, now));
    }
}

#[test]
fn it_begins_full() {
    let now = Duration::ZERO;
    check(
        "a new bucket is full, and what is in it can be taken at once",
        (3, 1),
        &[(1, now), (2, now), (1, now)],
        &[Taken, Taken, RetryAfter(millis(1000))],
    );
}

#[test]
fn the_example_of_the_task() {
    check(
        "the example above the function: a bucket begins full, refills evenly, and a cost above its capacity is never taken",
        (2, 4),
        &[
            (2, millis(0)),
            (1, millis(100)),
            (1, millis(250)),
            (3, millis(9000)),
        ],
        &[Taken, RetryAfter(millis(150)), Taken, Never],
    );
}

#[test]
fn it_fills_evenly() {
    check(
        "one token for each 1 / per_second, as early as that",
        (1, 10),
        &[
            (1, millis(0)),
            (1, nanos(99_999_999)),
            (1, millis(100)),
            (1, millis(199)),
            (1, millis(200)),
        ],
        &[
            Taken,
            RetryAfter(nanos(1)),
            Taken,
            RetryAfter(millis(1)),
            Taken,
        ],
    );
    check(
        "a bucket of 4 that gets one token a second is full after 4 seconds",
        (4, 1),
        &[(4, millis(0)), (2, millis(1000))],
        &[Taken, RetryAfter(millis(1000))],
    );
}

#[test]
fn who_is_refused_takes_nothing() {
    check(
        "a call that is refused takes nothing, and does not move the time of the next token",
        (4, 1),
        &[
            (3, millis(0)),
            (2, millis(0)),
            (2, millis(500)),
            (1, millis(500)),
            (2, millis(1500)),
            (2, millis(2000)),
        ],
        &[
            Taken,
            RetryAfter(millis(1000)),
            RetryAfter(millis(500)),
            Taken,
            RetryAfter(millis(500)),
            Taken,
        ],
    );
}

#[test]
fn it_holds_no_more_than_its_capacity() {
    check(
        "the bucket never holds more than its capacity",
        (3, 2),
        &[
            (3, millis(3_600_000)),
            (1, millis(3_600_000)),
            (3, millis(7_200_000)),
            (1, millis(7_200_100)),
        ],
        &[
            Taken,
            RetryAfter(millis(500)),
            Taken,
            RetryAfter(millis(400)),
        ],
    );
}

#[test]
fn what_costs_too_much() {
    let rule = "what costs more than the bucket holds is never taken, and takes nothing";
    check(
        rule,
        (3, 1),
        &[
            (4, millis(0)),
            (u32::MAX, millis(0)),
            (3, millis(0)),
            (4, millis(9000)),
        ],
        &[Never, Never, Taken, Never],
    );
    check(rule, (0, 5), &[(1, millis(0)), (0, millis(0))], &[Never, Taken]);
}

#[test]
fn nothing_costs_nothing() {
    check(
        "a cost of 0 is always taken",
        (1, 1),
        &[(0, millis(0)), (1, millis(0)), (0, millis(0))],
        &[Taken, Taken, Taken],
    );
}

#[test]
fn retry_after_is_what_is_missing() {
    let rule = "RetryAfter is the time until what is missing has come, rounded up";
    check(
        rule,
        (5, 2),
        &[(4, millis(0)), (5, millis(0))],
        &[Taken, RetryAfter(millis(2000))],
    );
    check(
        rule,
        (2, 3),
        &[
            (2, millis(0)),
            (1, millis(0)),
            (2, millis(0)),
            (1, nanos(333_333_333)),
            (1, nanos(333_333_334)),
        ],
        &[
            Taken,
            RetryAfter(nanos(333_333_334)),
            RetryAfter(nanos(666_666_667)),
            RetryAfter(nanos(1)),
            Taken,
        ],
    );
}

#[test]
fn parts_of_a_token_add_up() {
    let case = Case::rule("parts of a token add up, however often the bucket is asked")
        .given("capacity", 10)
        .given("per_second", 1)
        .given("calls", "10 tokens at 0 s, and then one token every 0.1 s, until 100 s");
    let mut bucket = TokenBucket::new(10, 1, Duration::ZERO);
    bucket.take(10, Duration::ZERO);
    let taken = (1..=1000).filter(|&i| bucket.take(1, millis(100 * i)) == Taken).count();
    case.equal(("taken", 100), ("taken", taken));
}

#[test]
fn there_is_no_drift() {
    let case = Case::rule("nothing is rounded from call to call")
        .given("capacity", 2)
        .given("per_second", 3)
        .given("calls", "both tokens at 0 s, and then 50,000, each exactly after RetryAfter");
    let mut bucket = TokenBucket::new(2, 3, Duration::ZERO);
    bucket.take(2, Duration::ZERO);
    let mut now = Duration::ZERO;
    for _ in 0..50_000 {
        if let RetryAfter(time) = bucket.take(1, now) {
            now += time;
            // A look on the way, which must change nothing.
            bucket.take(0, now);
            bucket.take(1, now);
        }
    }
    // A third of a second for each of them, rounded up once.
    case.equal(("at", nanos(16_666_666_666_667)), ("at", now));
}

#[test]
fn a_clock_of_its_own() {
    let case = Case::rule("a bucket may begin at any time")
        .given("capacity", 1)
        .given("per_second", 1)
        .given("full at", "5 s")
        .given("calls", "one token at 5 s, 5.5 s and 6 s");
    let mut bucket = TokenBucket::new(1, 1, millis(5000));
    let found = [5000, 5500, 6000].map(|now| bucket.take(1, millis(now)));
    case.equal([Taken, RetryAfter(millis(500)), Taken], found);
}

#[test]
fn calls_in_another_order() {
    check(
        "an earlier `now` counts as the latest, and no time fills the bucket twice",
        (2, 1),
        &[
            (2, millis(10_000)),
            (1, millis(9_000)),
            (1, millis(10_500)),
            (1, millis(10_000)),
            (1, millis(11_000)),
            (1, millis(11_000)),
        ],
        &[
            Taken,
            RetryAfter(millis(1000)),
            RetryAfter(millis(500)),
            RetryAfter(millis(500)),
            Taken,
            RetryAfter(millis(1000)),
        ],
    );
    check(
        "a call that costs too much counts as one at that time, as every other",
        (2, 1),
        &[(2, millis(0)), (3, millis(2000)), (2, millis(1000))],
        &[Taken, Never, Taken],
    );
}

#[test]
fn retry_after_is_exact() {
    let mut random = Random::new(5);
    for _ in 0..200 {
        let (capacity, per_second) = (1 + random.below(9) as u32, 1 + random.below(99) as u32);
        let mut calls = Vec::new();
        let mut now = Duration::ZERO;
        for _ in 0..8 {
            now += nanos(random.below(200_000_000) as u64);
            calls.push((random.below(capacity as usize + 1) as u32, now));
        }
        let case = || {
            let rule =
                "after RetryAfter the last call succeeds, and a nanosecond earlier it does not";
            Case::rule(rule)
                .given("capacity", capacity)
                .given("per_second", per_second)
                .given("calls: (cost, now)", &calls)
        };
        let replayed = |last: (u32, Duration)| {
            let mut bucket = TokenBucket::new(capacity, per_second, Duration::ZERO);
            for &(cost, now) in &calls[..7] {
                bucket.take(cost, now);
            }
            bucket.take(last.0, last.1)
        };
        let (cost, now) = calls[7];
        let _first = case();
        let RetryAfter(time) = replayed((cost, now)) else {
            continue;
        };
        let case = case().given("the last one says", RetryAfter(time));
        let found = (replayed((cost, now + time - nanos(1))), replayed((cost, now + time)));
        case.equal((RetryAfter(nanos(1)), Taken), found);
    }
}

#[test]
fn limit_it_may_be_idle_for_long() {
    let rule = "no number overflows, and none loses its nanoseconds";
    let year = Duration::from_secs(31_536_000);
    let late = 100 * year;
    check(
        rule,
        (1, 3),
        &[
            (1, late),
            (1, late + nanos(333_333_333)),
            (1, late + nanos(333_333_334)),
        ],
        &[Taken, RetryAfter(nanos(1)), Taken],
    );
    check(
        rule,
        (u32::MAX, u32::MAX),
        &[
            (u32::MAX, millis(0)),
            (u32::MAX, Duration::MAX),
            (1, Duration::MAX),
        ],
        &[Taken, Taken, RetryAfter(nanos(1))],
    );
    check(
        rule,
        (u32::MAX, 1),
        &[(u32::MAX, millis(0)), (u32::MAX, millis(0))],
        &[Taken, RetryAfter(Duration::from_secs(u32::MAX.into()))],
    );
    check(
        rule,
        (u32::MAX, 1),
        &[(1, millis(0)), (u32::MAX, nanos(1))],
        &[Taken, RetryAfter(nanos(999_999_999))],
    );
    let two_to_the_64 = nanos(u64::MAX) + nanos(1);
    check(
        "the nanoseconds that have passed may not fit in 64 bits",
        (1, 1),
        &[(1, millis(0)), (1, two_to_the_64)],
        &[Taken, Taken],
    );
}

#[test]
fn limit_it_may_be_slow_to_fill() {
    let late = Duration::from_secs(3_153_600_000);
    check(
        "what comes in a hundred years is all there",
        (u32::MAX, 1),
        &[(u32::MAX, millis(0)), (3_153_600_000, late), (1, late)],
        &[Taken, Taken, RetryAfter(millis(1000))],
    );
    let two_to_the_64 = (1 << 31, nanos(1 << 33));
    check(
        "the billionths of a token that have come may not fit in 64 bits",
        (u32::MAX, two_to_the_64.0),
        &[(u32::MAX, millis(0)), (u32::MAX, two_to_the_64.1)],
        &[Taken, Taken],
    );
}
