use super::retry_elsewhere::{Budget, Failure, Next, after_failure};
use crate::support::{Case, Random};

/// The call, and what the budget is afterwards.
type Expected = (Next, u32);

#[track_caller]
fn check(
    rule: &str,
    (failure, sent): (Failure, bool),
    tried: &[usize],
    ready: &[bool],
    tenths: u32,
    expected: Expected,
) {
    let case = Case::rule(rule)
        .given("failure", failure)
        .given("sent", sent)
        .given("tried", tried)
        .given("ready", ready)
        .given("budget, in tenths", tenths);
    let mut budget = Budget { tenths };
    let next = after_failure(failure, sent, tried, ready, &mut budget);
    case.equal(expected, (next, budget.tenths));
}

const FOUR: [bool; 4] = [true, true, false, true];
const REFUSED: Failure = Failure::Status(503);

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: a refusal goes to the next replica after the last one tried, around the end; a broken connection is not tried again";
    check(rule, (Failure::NotConnected, false), &[1], &FOUR, 25, (Next::Retry(3), 15));
    check(rule, (REFUSED, false), &[3], &FOUR, 25, (Next::Retry(0), 15));
    check(rule, (Failure::Broken, false), &[1], &FOUR, 25, (Next::Answer(502), 25));
}

#[test]
fn what_is_safe() {
    let rule = "no connection, 429 and 503 are tried again, as long as the budget has a retry left";
    for failure in [Failure::NotConnected, Failure::Status(429), REFUSED] {
        check(rule, (failure, false), &[0], &FOUR, 10, (Next::Retry(1), 0));
    }
    let rule = "any other status is passed on, from 500 on too";
    for status in [400, 401, 404, 408, 413, 499, 500, 501, 502, 504, 599] {
        let failure = Failure::Status(status);
        check(rule, (failure, false), &[0], &FOUR, 100, (Next::Answer(status), 100));
    }
    let rule = "after a broken connection nobody knows what was done: 502";
    check(rule, (Failure::Broken, false), &[0], &FOUR, 100, (Next::Answer(502), 100));
}

#[test]
fn what_was_sent_cannot_be_taken_back() {
    let rule = "the client has a part of the answer";
    for failure in [
        Failure::NotConnected,
        Failure::Status(400),
        REFUSED,
        Failure::Broken,
    ] {
        check(rule, (failure, true), &[0], &FOUR, 100, (Next::EndWithError, 100));
    }
}

#[test]
fn which_replica_is_next() {
    let rule = "the first replica after the last tried one that is ready and was not tried";
    check(rule, (REFUSED, false), &[0], &FOUR, 99, (Next::Retry(1), 89));
    check(rule, (REFUSED, false), &[1], &FOUR, 99, (Next::Retry(3), 89));
    check(rule, (REFUSED, false), &[3, 0], &FOUR, 99, (Next::Retry(1), 89));
    let rule = "wrapping around at the end";
    check(rule, (REFUSED, false), &[0, 3], &FOUR, 99, (Next::Retry(1), 89));
    check(rule, (REFUSED, false), &[3], &FOUR, 99, (Next::Retry(0), 89));
    let rule = "a replica that is not ready any more was tried last";
    check(rule, (Failure::NotConnected, false), &[2], &FOUR, 99, (Next::Retry(3), 89));
}

#[test]
fn none_is_left() {
    let rule = "all that are ready were tried: the client gets the status of the last attempt";
    check(
        rule,
        (Failure::Status(429), false),
        &[0, 1, 3],
        &FOUR,
        99,
        (Next::Answer(429), 99),
    );
    let rule = "no connection to any replica: the client gets 503";
    check(rule, (Failure::NotConnected, false), &[0], &[true], 99, (Next::Answer(503), 99));
    check(
        rule,
        (Failure::NotConnected, false),
        &[0],
        &[false; 3],
        99,
        (Next::Answer(503), 99),
    );
}

#[test]
fn the_budget() {
    let rule = "a retry takes ten tenths, and the last ten may be used";
    check(rule, (REFUSED, false), &[0], &FOUR, 10, (Next::Retry(1), 0));
    let rule = "with less than ten tenths, nothing is tried again";
    check(rule, (REFUSED, false), &[0], &FOUR, 9, (Next::Answer(503), 9));
    check(rule, (Failure::Status(429), false), &[0], &FOUR, 0, (Next::Answer(429), 0));
    check(rule, (Failure::NotConnected, false), &[0], &FOUR, 9, (Next::Answer(503), 9));
}

#[test]
fn an_outage_does_not_multiply_the_load() {
    let case =
        Case::rule("1000 requests while no replica can be reached: 10 % more attempts at most")
            .given("ready", [true; 8])
            .given("budget, in tenths", 0);
    let mut budget = Budget { tenths: 0 };
    let mut attempts = 0;
    for request in 0..1000 {
        budget.tenths += 1;
        let mut tried = vec![request % 8];
        loop {
            attempts += 1;
            match after_failure(Failure::NotConnected, false, &tried, &[true; 8], &mut budget) {
                Next::Retry(replica) => tried.push(replica),
                _ => break,
            }
        }
    }
    case.equal(1100, attempts);
}

#[test]
fn any_failures() {
    let mut random = Random::new(32);
    for _ in 0..2000 {
        let replicas = 1 + random.below(5);
        let ready: Vec<bool> = (0..replicas).map(|_| random.below(3) > 0).collect();
        let mut tried: Vec<usize> = (0..replicas).filter(|_| random.below(2) == 0).collect();
        if tried.is_empty() {
            tried.push(random.below(replicas));
        }
        let rotation = random.below(tried.len());
        tried.rotate_left(rotation);
        let tenths = 5 + random.below(10) as u32;
        let last = tried[tried.len() - 1];
        let mut others = (1..=replicas).map(|step| (last + step) % replicas);
        let free = others.find(|r| ready[*r] && !tried.contains(r));
        let expected = match free {
            Some(replica) if tenths >= 10 => (Next::Retry(replica), tenths - 10),
            _ => (Next::Answer(503), tenths),
        };
        check(
            "any replicas: the first after the last one tried",
            (REFUSED, false),
            &tried,
            &ready,
            tenths,
            expected,
        );
    }
}
