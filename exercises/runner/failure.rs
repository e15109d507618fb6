//! What a test run says, read from what libtest prints, without what libtest adds.

use std::path::Path;

use crate::compile_error::plain;

/// A test that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// With its modules: `greedy::softmax_tests::a_single_score_is_certain`.
    pub test: String,
    /// What it said, and what the code under test printed.
    pub message: String,
}

impl Failure {
    /// Its name without the modules.
    pub fn name(&self) -> &str {
        self.test.rsplit("::").next().unwrap_or(&self.test)
    }

    /// Whether it is about a limit, such as numbers as great as their types allow: the second stage of an
    /// exercise, for when its idea is right.
    pub fn is_limit(&self) -> bool {
        is_limit(&self.test)
    }

    /// Whether it reached a `todo!()`.
    pub fn is_todo(&self) -> bool {
        self.message.lines().any(|line| line.trim() == "not yet implemented")
    }
}

/// Whether a test of this name, with or without its modules, is about a limit.
pub fn is_limit(test: &str) -> bool {
    test.rsplit("::").next().is_some_and(|name| name.starts_with("limit_"))
}

/// Sorts failures as their tests stand in the text of the suite, which begins with what is simple.
/// libtest sorts them by name.
pub fn sort_as_in_suite(failures: &mut [Failure], suite: &str) {
    failures.sort_by_key(|failure| suite.find(&format!("fn {}(", failure.name())));
}

/// The names of the tests that passed, and those that failed with their messages.
pub fn results(output: &str) -> (Vec<String>, Vec<Failure>) {
    let (mut passed, mut failed) = (Vec::new(), Vec::new());
    for line in output.lines() {
        let Some((name, result)) =
            line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... "))
        else {
            continue;
        };
        let name = name.trim_end_matches(" - should panic");
        match result {
            "ok" => passed.push(name.to_owned()),
            "FAILED" => {
                failed.push(Failure { test: name.to_owned(), message: message(output, name) })
            }
            _ => {}
        }
    }
    (passed, failed)
}

/// What a test printed: the lines between its heading and the next, or the list of failures.
fn message(output: &str, test: &str) -> String {
    let heading = format!("---- {test} stdout ----");
    let lines = output.lines().skip_while(|line| *line != heading).skip(1);
    let ends = |line: &&str| {
        *line != "failures:" && !(line.starts_with("---- ") && line.ends_with(" stdout ----"))
    };
    let mut message = String::new();
    let lines = without_the_schedule(lines.take_while(ends));
    for line in lines.filter_map(tidied) {
        message += &line;
        message.push('\n');
    }
    message.trim_matches('\n').to_owned()
}

/// The lines without what shuttle says of the schedule in which a test failed: a rerun tries the same.
fn without_the_schedule<'a>(lines: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    let mut of_schedule = false;
    lines.filter(move |line| {
        of_schedule |= line.starts_with("test panicked in task '");
        let is_told = !of_schedule;
        of_schedule &= !line.trim_start().starts_with("2) set the environment variable SHUTTLE");
        is_told
    })
}

/// A line without what does not help: which thread panicked, that there is a backtrace, and where
/// in the suite a rule was seen to be broken.
fn tidied(line: &str) -> Option<String> {
    if line.starts_with("note: run with `RUST_BACKTRACE=1`") {
        return None;
    }
    let panicked = line.strip_prefix("thread '").and_then(|rest| rest.split_once(" panicked at "));
    let Some((_, place)) = panicked else {
        return Some(line.to_owned());
    };
    let place = plain(Path::new(place.trim_end_matches(':')));
    // The standard library as it was compiled for the toolchain, which has no such folder.
    if place.starts_with("/rustc") {
        return Some("panicked in the standard library, which your code called:".into());
    }
    let in_suite = place.starts_with("exercises/suite");
    (!in_suite).then(|| format!("panicked at {}:", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_come_in_the_order_of_the_suite() {
        let failure = |name: &str| Failure { test: format!("a::b::{name}"), message: "".into() };
        let mut failures = ["all_at_once", "one", "one_more"].map(failure);
        let suite =
            "#[test]\nfn one() {}\n#[test]\nfn one_more() {}\n#[test]\nfn all_at_once() {}\n";
        sort_as_in_suite(&mut failures, suite);
        assert_eq!(failures, ["one", "one_more", "all_at_once"].map(failure));
    }

    const OUTPUT: &str = "
running 3 tests
test a::b_tests::fine ... ok
test a::b_tests::rule ... FAILED
test a::b_tests::index ... FAILED

failures:

---- a::b_tests::rule stdout ----

thread 'a::b_tests::rule' (7) panicked at exercises/src/a/../../suite/a/b.rs:31:14:

rule: the sum is 1
given:
  scores = [1.0]
expected:
  1
found:
  2

note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

---- a::b_tests::index stdout ----

thread 'a::b_tests::index' (8) panicked at exercises/src/a/b.rs:24:5:
index out of bounds: the len is 1 but the index is 1

your code panicked. rule: the sum is 1
given:
  scores = [1.0]


failures:
    a::b_tests::rule
    a::b_tests::index

test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 5 filtered out; finished in 0.00s

";

    #[test]
    fn a_message_keeps_the_rule_and_loses_the_noise() {
        let (passed, failed) = results(OUTPUT);
        assert_eq!(passed, ["a::b_tests::fine"]);
        assert_eq!(failed.len(), 2);
        assert_eq!(failed[0].name(), "rule");
        assert_eq!(
            failed[0].message,
            "rule: the sum is 1\ngiven:\n  scores = [1.0]\nexpected:\n  1\nfound:\n  2"
        );
    }

    #[test]
    fn a_panic_in_the_learners_code_keeps_its_place() {
        let (_, failed) = results(OUTPUT);
        assert_eq!(
            failed[1].message,
            "panicked at exercises/src/a/b.rs:24:5:\nindex out of bounds: the len is 1 but the index is 1\n\nyour code panicked. rule: the sum is 1\ngiven:\n  scores = [1.0]"
        );
        assert!(!failed[1].is_todo());
    }

    #[test]
    fn a_panic_of_the_standard_library_is_said_to_come_from_a_call_and_no_schedule_is_shown() {
        let output = "\
test a::b_tests::race ... FAILED

---- a::b_tests::race stdout ----

thread 'a::b_tests::race' (7) panicked at /rustc/59807616/library/core/src/time.rs:1201:31:
overflow when subtracting durations

your code panicked.
rule: it goes on
test panicked in task 'main-thread'
failing seed:
\"
8
\"
To replay the failure, either:
    1) pass the seed to `shuttle::check_random_with_seed, or
    2) set the environment variable SHUTTLE_RANDOM_SEED to the seed and run `shuttle::check_random`.
the end

failures:
";
        let (_, failed) = results(output);
        assert_eq!(
            failed[0].message,
            "panicked in the standard library, which your code called:\noverflow when subtracting durations\n\nyour code panicked.\nrule: it goes on\nthe end"
        );
    }

    #[test]
    fn a_limit_is_told_from_the_idea_by_its_name() {
        assert!(is_limit("a::b_tests::limit_great"));
        assert!(!is_limit("a::limit_tests::great"));
    }

    #[test]
    fn a_todo_is_told_from_a_wrong_answer() {
        let failure = Failure {
            test: "a".into(),
            message: "panicked at b.rs:1:1:\nnot yet implemented".into(),
        };
        assert!(failure.is_todo());
    }
}
