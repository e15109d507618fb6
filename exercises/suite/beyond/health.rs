use super::health::{Check, Health, Thresholds, after_check, candidates};
use crate::support::{Case, Random};

const USUAL: Thresholds = Thresholds { fall: 3, rise: 2 };

const fn up(against: u32) -> Health {
    Health { is_up: true, against }
}

const fn down(against: u32) -> Health {
    Health { is_up: false, against }
}

#[track_caller]
fn check(rule: &str, thresholds: Thresholds, health: Health, found: Check, expected: Health) {
    let case = Case::rule(rule)
        .given("health", health)
        .given("check", found)
        .given("thresholds", thresholds);
    case.equal(expected, after_check(health, found, thresholds));
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: `fall` failed or `rise` passed checks in a row change it, one that agrees resets the count, draining is down at once";
    check(rule, USUAL, up(1), Check::Failed, up(2));
    check(rule, USUAL, up(2), Check::Failed, down(0));
    check(rule, USUAL, up(2), Check::Passed, up(0));
    check(rule, USUAL, down(1), Check::Passed, up(0));
    check(rule, USUAL, up(0), Check::Draining, down(0));
}

#[test]
fn one_check_changes_nothing() {
    let rule = "one check alone changes nothing";
    check(rule, USUAL, up(0), Check::Failed, up(1));
    check(rule, USUAL, down(0), Check::Passed, down(1));
    let rule = "unless its threshold is 1";
    let hasty = Thresholds { fall: 1, rise: 1 };
    check(rule, hasty, up(0), Check::Failed, down(0));
    check(rule, hasty, down(0), Check::Passed, up(0));
    let rule = "each direction has its own threshold";
    let slow = Thresholds { fall: 1, rise: 4 };
    check(rule, slow, down(1), Check::Passed, down(2));
    check(rule, slow, down(3), Check::Passed, up(0));
    let patient = Thresholds { fall: 4, rise: 1 };
    check(rule, patient, up(2), Check::Failed, up(3));
    let rule = "a count that is above the threshold is enough too";
    check(rule, Thresholds { fall: 2, rise: 2 }, up(2), Check::Failed, down(0));
}

#[test]
fn in_a_row() {
    let rule = "a check that agrees resets the count";
    check(rule, USUAL, up(2), Check::Passed, up(0));
    check(rule, USUAL, down(1), Check::Failed, down(0));
    check(rule, USUAL, up(0), Check::Passed, up(0));
    check(rule, USUAL, down(0), Check::Failed, down(0));
}

#[test]
fn draining() {
    let rule = "a replica that drains is down at once, and comes up like any other";
    for health in [up(0), up(2), down(0), down(1)] {
        check(rule, USUAL, health, Check::Draining, down(0));
    }
}

#[test]
fn any_checks() {
    let mut random = Random::new(32);
    for _ in 0..300 {
        let thresholds = Thresholds {
            fall: 1 + random.below(4) as u32,
            rise: 1 + random.below(4) as u32,
        };
        let mut checks = Vec::new();
        let mut health = up(0);
        let mut expected = true;
        for _ in 0..40 {
            checks.push(match random.below(10) {
                0 => Check::Draining,
                1..=5 => Check::Failed,
                _ => Check::Passed,
            });
            let case = Case::rule("the last checks in a row decide, whatever came before")
                .given("thresholds", thresholds)
                .given("checks, from the first, of a replica that was up", &checks);
            health = after_check(health, checks[checks.len() - 1], thresholds);
            let row = |wanted| checks.iter().rev().take_while(|&&found| found == wanted).count();
            expected = match checks[checks.len() - 1] {
                Check::Draining => false,
                Check::Failed => expected && row(Check::Failed) < thresholds.fall as usize,
                Check::Passed => expected || row(Check::Passed) >= thresholds.rise as usize,
            };
            case.equal(expected, health.is_up);
        }
    }
}

#[test]
fn where_requests_go() {
    let check = |rule: &str, replicas: &[Health], expected: &[usize]| {
        let case = Case::rule(rule).given("replicas", replicas);
        case.equal(expected.to_vec(), candidates(replicas));
    };
    check("the replicas that are up", &[up(0), down(0), up(2)], &[0, 2]);
    let rule = "in ascending order, whatever speaks against them";
    check(rule, &[up(2), up(0), down(1), up(1)], &[0, 1, 3]);
    check("half of them are enough", &[down(1), up(0), up(1), down(0)], &[1, 2]);
    let rule = "fewer than half are up: all of them";
    check(rule, &[down(0), up(0), down(0)], &[0, 1, 2]);
    check(rule, &[down(0), down(0), down(0), up(0), up(0)], &[0, 1, 2, 3, 4]);
    check(rule, &[down(0), down(1)], &[0, 1]);
    check(rule, &[down(0)], &[0]);
    check("one, and it is up", &[up(0)], &[0]);
    check("no replica", &[], &[]);
}
