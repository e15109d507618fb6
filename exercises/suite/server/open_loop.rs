use std::time::Duration;

use super::open_loop::{Request, ttft_percentile};
use crate::support::{Case, Random};

/// (planned, sent, first token), in milliseconds.
type Short = (u64, u64, Option<u64>);

fn check(rule: &str, requests: &[Short], per_mille: usize, expected: Option<u64>) {
    let case = Case::rule(rule)
        .given("requests, in ms: (planned, sent, first token)", requests)
        .given("per_mille", per_mille);
    let millis = Duration::from_millis;
    let requests: Vec<Request> = requests
        .iter()
        .map(|&(planned, sent, first_token)| Request {
            planned: millis(planned),
            sent: millis(sent),
            first_token: first_token.map(millis),
        })
        .collect();
    case.equal(expected.map(millis), ttft_percentile(&requests, per_mille));
}

/// Requests that were sent as planned, a second apart, with these times to their first tokens.
fn on_time(times: &[u64]) -> Vec<Short> {
    let at = |i: usize| 1000 * i as u64;
    times.iter().enumerate().map(|(i, time)| (at(i), at(i), Some(at(i) + time))).collect()
}

#[test]
fn one_request() {
    let rule = "one request: its TTFT is every percentile";
    for per_mille in [1, 500, 1000] {
        check(rule, &[(100, 100, Some(350))], per_mille, Some(250));
    }
}

#[test]
fn a_median() {
    check(
        "the median of three times, sorted by how long they are",
        &on_time(&[30, 10, 20]),
        500,
        Some(20),
    );
    check(
        "the median of four is the second: two of four had it or less",
        &on_time(&[10, 40, 30, 20]),
        500,
        Some(20),
    );
}

#[test]
fn a_request_that_was_sent_late() {
    let rule = "TTFT counts from the plan, and not from when the load tool sent it";
    check(rule, &[(1000, 5000, Some(5100))], 500, Some(4100));
}

#[test]
fn the_example_of_the_task() {
    let requests = [
        (0, 0, Some(4000)),
        (1000, 4000, Some(4100)),
        (2000, 4100, Some(4200)),
        (3000, 4200, Some(4300)),
        (4000, 4300, Some(4400)),
    ];
    let rule = "the example above the function: TTFT counts from the plan, not from the sending";
    check(rule, &requests, 500, Some(2200));
    check(rule, &requests, 990, Some(4000));
    check(rule, &requests, 1, Some(400));
}

#[test]
fn the_nearest_rank() {
    let rule = "the smallest TTFT that at least per_mille thousandths had, or a smaller one";
    let ten = on_time(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for (per_mille, expected) in [
        (1, 1),
        (100, 1),
        (101, 2),
        (500, 5),
        (501, 6),
        (899, 9),
        (900, 9),
        (901, 10),
        (999, 10),
        (1000, 10),
    ] {
        check(rule, &ten, per_mille, Some(expected));
    }
}

#[test]
fn requests_without_a_token() {
    let rule = "a request without a first token waited longest";
    let requests = [
        (0, 0, None),
        (1000, 1000, Some(1010)),
        (2000, 2000, Some(2020)),
    ];
    check(rule, &requests, 1, Some(10));
    check(rule, &requests, 333, Some(10));
    check(rule, &requests, 334, Some(20));
    check(rule, &requests, 666, Some(20));
    check(rule, &requests, 667, None);
    check(rule, &[(0, 0, None)], 1, None);
}

#[test]
fn no_request() {
    for per_mille in [1, 500, 1000] {
        check("without a request there is no percentile", &[], per_mille, None);
    }
}

#[test]
fn the_order_does_not_matter() {
    let requests = [
        (5000, 5000, Some(5050)),
        (0, 0, Some(40)),
        (3000, 3000, Some(3060)),
    ];
    check("the requests are in any order", &requests, 500, Some(50));
    let rule = "a TTFT may be longer than a later request's, and end later";
    check(rule, &[(0, 0, Some(9000)), (1000, 1000, Some(1010))], 1000, Some(9000));
}

#[test]
fn a_hundred_requests() {
    let rule = "ranks are exact";
    let hundred = on_time(&(1..=100).collect::<Vec<u64>>());
    for per_mille in [10, 70, 140, 280, 290, 550, 560, 570, 580, 950, 990] {
        check(rule, &hundred, per_mille, Some(per_mille as u64 / 10));
    }
    let thousand = on_time(&(1..=1000).collect::<Vec<u64>>());
    for per_mille in [7, 57, 999] {
        check(rule, &thousand, per_mille, Some(per_mille as u64));
    }
}

#[test]
fn many_requests() {
    let case = Case::rule("ranks are exact, however many requests there are")
        .given("requests", "33,333, with TTFTs of 1 ns to 33,333 ns")
        .given("per_mille", 997);
    let request = |i: u64| Request {
        planned: Duration::ZERO,
        sent: Duration::ZERO,
        first_token: Some(Duration::from_nanos(i)),
    };
    let requests: Vec<Request> = (1..=33_333).map(request).collect();
    // 33,333 * 0.997 = 33,233.001, so 33,233 requests are too few.
    case.equal(Some(Duration::from_nanos(33_234)), ttft_percentile(&requests, 997));
}

#[test]
fn times_are_exact() {
    let nanos = Duration::from_nanos;
    let year = 31_536_000_000_000_000;
    let requests: Vec<Request> = [3, 1, 2]
        .iter()
        .map(|&time| Request {
            planned: nanos(year),
            sent: nanos(year),
            first_token: Some(nanos(2 * year + time)),
        })
        .collect();
    let case = Case::rule("times are given to the nanosecond")
        .given("requests", &requests)
        .given("per_mille", 500);
    case.equal(Some(nanos(year + 2)), ttft_percentile(&requests, 500));
}

#[test]
fn random_requests() {
    let mut random = Random::new(2);
    for count in 1..60 {
        let requests: Vec<Short> = (0..count)
            .map(|i| {
                let planned = 100 * i;
                let sent = planned + random.below(300) as u64;
                let first_token = (random.below(10) > 0).then(|| sent + random.below(900) as u64);
                (planned, sent, first_token)
            })
            .collect();
        let per_mille = 1 + random.below(1000);
        let felt = |&(planned, _, first): &Short| first.map_or(u64::MAX, |first| first - planned);
        let times: Vec<u64> = requests.iter().map(felt).collect();
        let enough = |&&time: &&u64| {
            let as_good = times.iter().filter(|&&other| other <= time).count();
            1000 * as_good >= per_mille * times.len()
        };
        let expected = times.iter().filter(enough).min().copied();
        check(
            "at least per_mille thousandths had it, or less, and it is the smallest such",
            &requests,
            per_mille,
            expected.filter(|&time| time != u64::MAX),
        );
    }
}
