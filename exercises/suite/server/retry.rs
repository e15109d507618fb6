use std::time::Duration;

use super::retry::{Policy, Refusal, wait};
use crate::support::{Case, Random, in_time};

const SECOND: Duration = Duration::from_secs(1);

const USUAL: Policy = Policy { base: SECOND, most: Duration::from_secs(60), retries: 5 };

/// `retry`: how many were made, and the random number.
#[track_caller]
fn check(
    rule: &str,
    policy: Policy,
    (status, retry_after): (u16, Option<Duration>),
    (done, random): (u32, f64),
    expected: Option<Duration>,
) {
    let case = Case::rule(rule)
        .given("policy", policy)
        .given("status", status)
        .given("retry_after", retry_after)
        .given("done", done)
        .given("random", random);
    let found = wait(policy, Refusal { status, retry_after }, done, random);
    let near = match (expected, found) {
        (Some(expected), Some(found)) => {
            expected.abs_diff(found) <= expected / 1_000_000 + Duration::from_nanos(2)
        }
        (expected, found) => expected == found,
    };
    case.holds(near, &format!("{expected:?}"), found);
}

fn seconds(seconds: f64) -> Option<Duration> {
    Some(Duration::from_secs_f64(seconds))
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: half of the backoff and the jitter; it doubles with each retry; not earlier than Retry-After; None after all retries";
    check(rule, USUAL, (503, None), (0, 0.0), seconds(0.5));
    check(rule, USUAL, (503, None), (2, 0.5), seconds(3.0));
    check(rule, USUAL, (503, seconds(7.0)), (0, 0.5), seconds(7.25));
    check(rule, USUAL, (503, None), (5, 0.5), None);
}

#[test]
fn what_may_succeed_later() {
    for status in [429, 500, 501, 502, 503, 504, 505, 599] {
        check(
            "429 and 500 to 599 are tried again",
            USUAL,
            (status, None),
            (0, 0.0),
            seconds(0.5),
        );
    }
    for status in [400, 401, 403, 404, 408, 413, 415, 428, 430, 499] {
        let rule = "the same request would fail again";
        check(rule, USUAL, (status, None), (0, 0.0), None);
        check(rule, USUAL, (status, seconds(1.0)), (0, 0.0), None);
    }
}

#[test]
fn it_gives_up() {
    check("the last retry", USUAL, (429, None), (4, 0.0), seconds(8.0));
    let rule = "no more than `retries` retries, whatever the server says";
    check(rule, USUAL, (429, seconds(1.0)), (5, 0.0), None);
    check(rule, USUAL, (429, None), (u32::MAX, 0.0), None);
    let never = Policy { retries: 0, ..USUAL };
    check("none at all", never, (429, None), (0, 0.0), None);
}

#[test]
fn it_doubles() {
    let patient = Policy { retries: 100, ..USUAL };
    for (done, backoff) in [
        (0, 1.0),
        (1, 2.0),
        (2, 4.0),
        (5, 32.0),
        (6, 60.0),
        (7, 60.0),
    ] {
        let rule = "base, doubled once for each retry that was made, and `most` at most";
        check(rule, patient, (503, None), (done, 0.0), seconds(backoff / 2.0));
        let rule = "half is certain, and the other half is multiplied with `random`";
        check(rule, patient, (503, None), (done, 0.5), seconds(backoff * 0.75));
        check(rule, patient, (503, None), (done, 0.25), seconds(backoff * 0.625));
        check(rule, patient, (503, None), (done, 0.875), seconds(backoff * 0.9375));
    }
    let short = Policy { most: Duration::from_millis(300), ..USUAL };
    check("`most` may be below `base`", short, (503, None), (0, 0.5), seconds(0.225));
}

#[test]
fn what_the_server_says() {
    let rule = "not earlier than `retry_after`, and the jitter is added";
    check(rule, USUAL, (429, seconds(20.0)), (0, 0.0), seconds(20.0));
    check(rule, USUAL, (429, seconds(20.0)), (3, 0.5), seconds(22.0));
    let rule = "a `retry_after` that is shorter than half of the backoff changes nothing";
    check(rule, USUAL, (429, seconds(1.0)), (3, 0.5), seconds(6.0));
    check(rule, USUAL, (429, seconds(0.0)), (0, 0.5), seconds(0.75));
    let rule = "`most` does not shorten `retry_after`";
    check(rule, USUAL, (429, seconds(600.0)), (0, 0.5), seconds(600.25));
    let rule = "between half of the backoff and the whole of it, it counts too";
    check(rule, USUAL, (429, seconds(6.0)), (3, 0.5), seconds(8.0));
}

#[test]
fn clients_spread_out() {
    let mut random = Random::new(18);
    for _ in 0..300 {
        let (done, share) = (random.below(5) as u32, f64::from(random.float(0.0, 1.0)));
        let retry_after = (random.below(2) == 0).then(|| SECOND * random.below(30) as u32);
        let half = f64::from(1 << done) / 2.0;
        let certain = half.max(retry_after.map_or(0.0, |time| time.as_secs_f64()));
        let rule = "the certain part, and the jitter";
        check(rule, USUAL, (429, retry_after), (done, share), seconds(certain + half * share));
    }
}

#[test]
fn limit_numbers_may_be_great() {
    let endless = Policy { base: SECOND, most: Duration::MAX, retries: u32::MAX };
    let rule = "no product overflows";
    for done in [31, 32, 33] {
        let expected = Duration::from_secs(1 << (done - 1));
        check(rule, endless, (503, None), (done, 0.0), Some(expected));
    }
    for done in [64, 65, 200, 4_000_000] {
        check(rule, endless, (503, None), (done, 0.0), Some(Duration::MAX / 2));
    }
    check(
        rule,
        Policy { retries: u32::MAX, ..USUAL },
        (503, None),
        (70, 0.0),
        seconds(30.0),
    );
    let case = Case::rule("`done` may be any number: a loop that runs as often takes forever")
        .given("policy", endless)
        .given("status", 503)
        .given("done", u32::MAX - 1)
        .given("random", 0.0);
    let refusal = Refusal { status: 503, retry_after: None };
    let found = in_time(&case, move || wait(endless, refusal, u32::MAX - 1, 0.0));
    case.equal(Some(Duration::MAX / 2), found);
    let zero = Policy { base: Duration::ZERO, ..endless };
    check("twice 0 is 0", zero, (503, None), (4_000_000, 0.5), Some(Duration::ZERO));
    let rule = "a sum that no Duration holds is the greatest";
    check(rule, endless, (503, Some(Duration::MAX)), (80, 0.5), Some(Duration::MAX));
    let small = Policy { base: Duration::from_nanos(2), ..endless };
    check(
        "nanoseconds are doubled too",
        small,
        (503, None),
        (30, 0.0),
        seconds(1.073_741_824),
    );
    // 2^80 nanoseconds, of which half is certain.
    let expected = Duration::from_secs(((1_u128 << 80) / 1_000_000_000) as u64);
    check("however often", small, (503, None), (80, 0.0), Some(expected));
}
