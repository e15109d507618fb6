use std::time::Duration;

use super::graceful_shutdown::{Answer, Request, Server};
use crate::support::{Case, Random};

use Answer::{CutOff, Finished, Refused};

/// The steps are a second apart.
fn seconds(seconds: usize) -> Duration {
    Duration::from_secs(seconds as u64)
}

/// A server to which these requests were submitted, (name, tokens), before the step at 0 s.
fn server(slots: usize, requests: &[(char, usize)]) -> Server {
    let mut server = Server::new(slots);
    for &(name, remaining) in requests {
        server.submit(Request { name, remaining });
    }
    server
}

fn case(rule: &str, slots: usize, requests: &[(char, usize)]) -> Case {
    Case::rule(rule)
        .given("slots", slots)
        .given("requests: (name, tokens)", requests)
        .given("steps", "one at each second, from 0 s on")
}

#[test]
fn a_server_that_runs() {
    let case = case(
        "without a shutdown every request gets its tokens, in turn, and the process goes on \
         (shown: which requests ended at each step)",
        2,
        &[('A', 1), ('B', 2), ('C', 1)],
    );
    let mut server = server(2, &[('A', 1), ('B', 2), ('C', 1)]);
    let mut found = Vec::new();
    for now in 0..4 {
        found.push((server.step(seconds(now)), server.may_exit()));
    }
    let expected = vec![
        (vec![('A', Finished)], false),
        (vec![('B', Finished), ('C', Finished)], false),
        (vec![], false),
        (vec![], false),
    ];
    case.equal(expected, found);
}

/// After a shutdown, A is finished at the second step and B at the third.
fn check(rule: &str, slots: usize, requests: &[(char, usize)]) {
    let shown = "(shown: which requests ended at each step, and whether it may exit then)";
    let case = case(&format!("{rule} {shown}"), slots, requests)
        .given("shutdown", "after the first step, with the deadline at 30 s");
    let mut server = server(slots, requests);
    let mut found = vec![(server.step(seconds(0)), server.may_exit())];
    server.shut_down(seconds(30));
    for now in 1..3 {
        found.push((server.step(seconds(now)), server.may_exit()));
    }
    let expected = vec![
        (vec![], false),
        (vec![('A', Finished)], false),
        (vec![('B', Finished)], true),
    ];
    case.equal(expected, found);
}

#[test]
fn who_runs_is_finished() {
    let rule = "a request that runs at the shutdown is finished, and then the process may exit";
    check(rule, 2, &[('A', 2), ('B', 3)]);
}

#[test]
fn who_waits_is_finished_too() {
    let rule = "a request that waits at the shutdown was accepted, and is finished too";
    check(rule, 1, &[('A', 2), ('B', 1)]);
}

#[test]
fn a_shutdown_before_the_first_step() {
    let case = case(
        "a request that was accepted just before the shutdown is finished (shown: whether the \
         process may exit before the step, what ended, and whether it may exit then)",
        2,
        &[('A', 1)],
    )
    .given("shutdown", "before the first step, with the deadline at 30 s");
    let mut server = server(2, &[('A', 1)]);
    server.shut_down(seconds(30));
    let before = server.may_exit();
    let answers = server.step(seconds(0));
    case.equal((false, vec![('A', Finished)], true), (before, answers, server.may_exit()));
}

#[test]
fn nothing_to_do() {
    let case = case("a server with nothing to do may exit when it is shut down", 2, &[]);
    let mut server = server(2, &[]);
    let before = server.may_exit();
    server.shut_down(seconds(30));
    case.equal((false, true), (before, server.may_exit()));
}

#[test]
fn what_comes_after_the_shutdown() {
    let case =
        case("what is submitted after the shutdown is refused, and only that", 1, &[('A', 2)])
            .given("shutdown", "before the first step, then B and C are submitted");
    let mut server = server(1, &[('A', 2)]);
    server.shut_down(seconds(30));
    let refused = ['B', 'C'].map(|name| server.submit(Request { name, remaining: 1 }));
    let mut answers = Vec::new();
    for now in 0..4 {
        answers.extend(server.step(seconds(now)));
    }
    case.equal(([Some(Refused); 2], vec![('A', Finished)]), (refused, answers));
}

#[test]
fn the_deadline() {
    for late in [0, 1, 100] {
        let case = case(
            "the step at the deadline or after it cuts off what runs, then what waits, and then \
             the process may exit (shown, before and after it: what ended, and whether it may)",
            2,
            &[('A', 9), ('B', 9), ('C', 9), ('D', 1)],
        )
        .given("shutdown", "after the step at 0 s, with the deadline at 3 s")
        .given("the last step is at (s)", 3 + late);
        let mut server = server(2, &[('A', 9), ('B', 9), ('C', 9), ('D', 1)]);
        server.step(seconds(0));
        server.shut_down(seconds(3));
        let earlier = [server.step(seconds(1)), server.step(seconds(2))].concat();
        let before = server.may_exit();
        let answers = server.step(seconds(3 + late));
        let cut_off = ['A', 'B', 'C', 'D'].map(|name| (name, CutOff)).to_vec();
        case.equal((vec![], false, cut_off, true), (earlier, before, answers, server.may_exit()));
    }
}

#[test]
fn nothing_is_computed_at_the_deadline() {
    let case = case(
        "a request that lacks one token at the deadline is cut off, running or waiting (shown: what \
         ended before, and at the deadline)",
        2,
        &[('A', 4), ('B', 9), ('C', 1)],
    )
    .given("shutdown", "before the first step, with the deadline at 3 s");
    let mut server = server(2, &[('A', 4), ('B', 9), ('C', 1)]);
    server.shut_down(seconds(3));
    let earlier = [0, 1, 2].map(|now| server.step(seconds(now))).concat();
    let cut_off = ['A', 'B', 'C'].map(|name| (name, CutOff)).to_vec();
    case.equal((vec![], cut_off), (earlier, server.step(seconds(3))));
}

#[test]
fn the_step_before_the_deadline() {
    let case = case("a nanosecond before the deadline, a token is computed", 1, &[('A', 1)])
        .given("shutdown", "before the first step, with the deadline at 3 s");
    let mut server = server(1, &[('A', 1)]);
    server.shut_down(seconds(3));
    let answers = server.step(seconds(3) - Duration::from_nanos(1));
    case.equal(vec![('A', Finished)], answers);
}

#[test]
fn only_who_waits_is_left() {
    let case = case(
        "at the deadline, what waits is cut off, even if nothing runs (shown: whether the process \
         may exit before the step, what ended, and whether it may exit then)",
        2,
        &[('A', 1)],
    )
    .given("shutdown", "before the first step, with the deadline at 0 s");
    let mut server = server(2, &[('A', 1)]);
    server.shut_down(seconds(0));
    let before = server.may_exit();
    let answers = server.step(seconds(0));
    case.equal((false, vec![('A', CutOff)], true), (before, answers, server.may_exit()));
}

#[test]
fn no_answer_comes_twice() {
    let case = case("after the deadline there is nothing more to say", 1, &[('A', 9), ('B', 9)])
        .given("shutdown", "before the first step, with the deadline at 1 s");
    let mut server = server(1, &[('A', 9), ('B', 9)]);
    server.shut_down(seconds(1));
    let answers = [0, 1, 2, 3].map(|now| server.step(seconds(now)).len());
    case.equal(("answers of each step", [0, 2, 0, 0]), ("answers of each step", answers));
}

#[test]
fn no_more_run_than_there_are_slots() {
    let requests = [('A', 2), ('B', 2), ('C', 2), ('D', 2), ('E', 2)];
    let case = case(
        "a server that shuts down has no more slots than before (shown: how many ended at each \
         step)",
        2,
        &requests,
    )
    .given("shutdown", "before the first step, with the deadline at 30 s");
    let mut server = server(2, &requests);
    server.shut_down(seconds(30));
    let ended = [0, 1, 2, 3, 4, 5].map(|now| server.step(seconds(now)).len());
    case.equal([0, 2, 0, 2, 0, 1], ended);
}

#[test]
fn everybody_gets_one_answer() {
    let mut random = Random::new(11);
    for _ in 0..200 {
        let slots = 1 + random.below(3);
        let requests: Vec<(char, usize)> =
            ('A'..='H').map(|name| (name, 1 + random.below(6))).collect();
        let (stop, grace) = (random.below(6), random.below(12));
        let case =
            Case::rule("every request gets exactly one answer, at the deadline at the latest")
                .given("slots", slots)
                .given("requests, one at each second: (name, tokens)", &requests)
                .given("shutdown before the request at (s)", stop)
                .given("deadline (s)", stop + grace);
        let mut server = Server::new(slots);
        let mut answers = Vec::new();
        for now in 0..=stop + grace.max(8) {
            if now == stop {
                server.shut_down(seconds(stop + grace));
            }
            if let Some(&(name, remaining)) = requests.get(now) {
                let answer = server.submit(Request { name, remaining });
                answers.extend(answer.map(|answer| (name, answer)));
            }
            answers.extend(server.step(seconds(now)));
        }
        let refused = requests.iter().skip(stop).map(|&(name, _)| name).collect::<String>();
        let mut names: Vec<char> = answers.iter().map(|(name, _)| *name).collect();
        names.sort_unstable();
        case.equal(
            (
                "answered",
                ('A'..='H').collect::<String>(),
                "refused",
                refused,
                "may exit",
                true,
            ),
            (
                "answered",
                names.into_iter().collect::<String>(),
                "refused",
                answers
                    .iter()
                    .filter(|(_, answer)| *answer == Refused)
                    .map(|(name, _)| name)
                    .collect(),
                "may exit",
                server.may_exit(),
            ),
        );
    }
}
