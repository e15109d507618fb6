use super::deferred::{Event, Gauges, State, gauges, next};
use crate::support::Case;

use Event::{Admitted, BlocksTaken, CaughtUp, Computed, LeftOut, StreamFull};
use State::{Deferred, Paused, Preempted, Queued, Running};

const BEHIND: State = Paused { ready: false };
const READY: State = Paused { ready: true };

#[track_caller]
fn check(rule: &str, state: State, event: Event, expected: Option<State>) {
    let case = Case::rule(rule).given("state", state).given("event", event);
    case.equal(expected, next(state, event));
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: a step that leaves a sequence out defers it; without blocks none can be taken; a reader that catches up makes it ready";
    check(rule, Running, LeftOut, Some(Deferred));
    check(rule, Deferred, Computed, Some(Running));
    check(rule, Queued, BlocksTaken, None);
    check(rule, BEHIND, CaughtUp, Some(READY));
}

#[test]
fn a_deferred_sequence_keeps_its_slot() {
    let rule = "left out again, it is still deferred; a step that computes it makes it run";
    check(rule, Deferred, LeftOut, Some(Deferred));
    check(rule, Deferred, Computed, Some(Running));
    check(rule, Running, Computed, Some(Running));
    let rule = "it has its slot already, so it is not admitted";
    check(rule, Deferred, Admitted, None);
    check(rule, Running, Admitted, None);
}

#[test]
fn who_has_no_slot_takes_no_part_in_steps() {
    for state in [Queued, Preempted, BEHIND, READY] {
        let rule = "without a slot, no step computes it or leaves it out";
        check(rule, state, Computed, None);
        check(rule, state, LeftOut, None);
    }
}

#[test]
fn who_waits_is_admitted() {
    let rule = "a slot makes it run";
    check(rule, Queued, Admitted, Some(Running));
    check(rule, Preempted, Admitted, Some(Running));
    check(rule, READY, Admitted, Some(Running));
    check("its reader is still behind", BEHIND, Admitted, None);
}

#[test]
fn blocks_are_taken() {
    let rule = "a sequence that loses its blocks is preempted";
    check(rule, Running, BlocksTaken, Some(Preempted));
    check(rule, Deferred, BlocksTaken, Some(Preempted));
    let rule = "a paused sequence stays what it is: its reader is the reason";
    check(rule, BEHIND, BlocksTaken, Some(BEHIND));
    check(rule, READY, BlocksTaken, Some(READY));
    let rule = "it holds no blocks";
    check(rule, Queued, BlocksTaken, None);
    check(rule, Preempted, BlocksTaken, None);
}

#[test]
fn streams_fill_up() {
    let rule = "its reader is behind: it is paused";
    for state in [Running, Deferred, Preempted] {
        check(rule, state, StreamFull, Some(BEHIND));
    }
    check("it has no token yet, so its stream is empty", Queued, StreamFull, None);
    check("it is paused for that already", BEHIND, StreamFull, None);
    check("no token came since its reader has caught up", READY, StreamFull, None);
}

#[test]
fn readers_catch_up() {
    let rule = "this sequence is not waiting for its reader";
    for state in [Queued, Running, Deferred, Preempted, READY] {
        check(rule, state, CaughtUp, None);
    }
    check("it is ready, and needs a slot before it runs", BEHIND, CaughtUp, Some(READY));
}

#[test]
fn a_life() {
    let events = [
        (Admitted, Running),
        (LeftOut, Deferred),
        (Computed, Running),
        (StreamFull, BEHIND),
        (BlocksTaken, BEHIND),
        (CaughtUp, READY),
        (Admitted, Running),
        (LeftOut, Deferred),
        (BlocksTaken, Preempted),
        (StreamFull, BEHIND),
        (CaughtUp, READY),
        (Admitted, Running),
    ];
    let mut state = Queued;
    for (i, (event, expected)) in events.into_iter().enumerate() {
        let so_far: Vec<Event> = events[..=i].iter().map(|(event, _)| *event).collect();
        let case = Case::rule("one event after the other").given("events", so_far);
        let found = next(state, event);
        case.equal(Some(expected), found);
        state = expected;
    }
}

fn check_gauges(rule: &str, states: &[State], (running, waiting, paused): (usize, usize, usize)) {
    let case = Case::rule(rule).given("states", states);
    case.equal(Gauges { running, waiting, paused }, gauges(states));
}

#[test]
fn what_the_metrics_show() {
    check_gauges("no sequence", &[], (0, 0, 0));
    check_gauges("a deferred sequence has a slot", &[Running, Deferred, Deferred], (3, 0, 0));
    check_gauges("never admitted", &[Queued, Queued], (0, 2, 0));
    let rule = "admitted once, and without a slot";
    check_gauges(rule, &[BEHIND, READY, Preempted], (0, 0, 3));
    let all = [Queued, Running, Deferred, BEHIND, READY, Preempted, Queued];
    check_gauges("each sequence is in one of them", &all, (2, 2, 3));
}
