use std::time::Duration;

use super::token_budget::{Step, budget, time_to_first_token};
use crate::support::{Case, Random};

fn micros(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

fn step(fixed: u64, per_token: u64) -> Step {
    Step { fixed: micros(fixed), per_token: micros(per_token) }
}

fn check_budget(rule: &str, step: Step, gap: Duration, decodes: usize, expected: Option<usize>) {
    let case = Case::rule(rule).given("step", step).given("gap", gap).given("decodes", decodes);
    case.equal(expected, budget(step, gap, decodes));
}

/// `counts`: budget, decodes, prompt.
fn check_time(rule: &str, step: Step, counts: [usize; 3], expected: Duration) {
    let [budget, decodes, prompt] = counts;
    let case = Case::rule(rule)
        .given("step", step)
        .given("budget", budget)
        .given("decodes", decodes)
        .given("prompt", prompt);
    case.equal(expected, time_to_first_token(step, budget, decodes, prompt));
}

#[test]
fn the_greatest_budget_within_the_gap() {
    let step = step(10_000, 500);
    check_budget("60 tokens take the whole gap", step, micros(40_000), 4, Some(60));
    check_budget("60 tokens fit, 61 do not", step, micros(40_499), 4, Some(60));
    check_budget("one token more fits", step, micros(40_500), 4, Some(61));
    check_budget("without decodes", step, micros(10_500), 0, Some(1));
    let minute = Duration::from_secs(60);
    check_budget("a gap of a minute", step, minute, 0, Some(119_980));
}

#[test]
fn a_gap_that_cannot_be_held() {
    let step = step(10_000, 500);
    let rule = "the budget has to leave a token for a prompt";
    check_budget(rule, step, micros(40_000), 59, Some(60));
    check_budget(rule, step, micros(40_000), 60, None);
    check_budget(rule, step, micros(40_000), 1000, None);
    check_budget(rule, step, micros(10_499), 0, None);
    let rule = "a step cannot be shorter than its fixed time";
    check_budget(rule, step, micros(10_000), 0, None);
    check_budget(rule, step, micros(9_999), 0, None);
    check_budget(rule, step, Duration::ZERO, 0, None);
}

#[test]
fn the_steps_of_a_prompt() {
    let step = step(10_000, 500);
    check_time(
        "the example above the function: a fixed time for each step, and a time for each token, of decodes and prompt",
        step,
        [60, 4, 100],
        micros(74_000),
    );
    check_time("one step for a short prompt", step, [60, 4, 10], micros(17_000));
    check_time("one step if it fits exactly", step, [60, 4, 56], micros(40_000));
    check_time("one token more is one step more", step, [60, 4, 57], micros(52_500));
    check_time("without decodes", step, [64, 0, 128], micros(84_000));
    let rule = "a budget with one token for the prompt";
    check_time(rule, step, [5, 4, 3], micros(37_500));
}

#[test]
fn decodes_are_computed_at_every_step() {
    let rule = "the tokens of the decodes count at each step, also at the last one";
    check_time(rule, step(0, 1000), [11, 10, 3], micros(33_000));
    let rule = "each step has its fixed time";
    check_time(rule, step(1000, 1), [11, 10, 3], micros(3033));
}

#[test]
fn times_are_exact() {
    let odd = Step {
        fixed: Duration::from_nanos(7),
        per_token: Duration::from_nanos(3),
    };
    check_budget("to the nanosecond", odd, Duration::from_nanos(3_000_006), 0, Some(999_999));
    check_budget("to the nanosecond", odd, Duration::from_nanos(3_000_007), 0, Some(1_000_000));
    check_time("to the nanosecond", odd, [2, 1, 999_999], Duration::from_nanos(12_999_987));
    let tenth = step(10_000, 100);
    check_budget("0.1 ms is no binary number", tenth, micros(40_000), 0, Some(300));
    for tokens in [3, 6, 7, 12, 14, 23, 29, 57, 58, 113] {
        let gap = micros(10_000 + 100 * tokens);
        check_budget("0.1 ms is no binary number", tenth, gap, 0, Some(tokens as usize));
    }
    let rule = "one nanosecond is missing for the third token";
    let gap = micros(40_000) - Duration::from_nanos(1);
    check_budget(rule, step(10_000, 10_000), gap, 0, Some(2));
    let nano = Step { fixed: Duration::ZERO, per_token: Duration::from_nanos(1) };
    let expected = Duration::from_nanos(999_999 * 999_999);
    check_time("so many tokens are more than 2^32", nano, [999_999, 999_998, 999_999], expected);
}

#[test]
fn the_budget_keeps_its_promise() {
    let mut random = Random::new(16);
    for _ in 0..200 {
        let step = step(random.below(20_000) as u64, 1 + random.below(900) as u64);
        let (gap, decodes) = (micros(random.below(90_000) as u64), random.below(40));
        let takes = |tokens: usize| step.fixed + step.per_token * tokens as u32;
        let most = (0..100_000).take_while(|&tokens| takes(tokens) <= gap).last();
        let expected = most.filter(|&most| most > decodes);
        check_budget("the greatest that fits", step, gap, decodes, expected);
        let Some(budget) = expected else {
            continue;
        };
        let prompt = 1 + random.below(2000);
        let (mut left, mut time) = (prompt, Duration::ZERO);
        while left > 0 {
            let tokens = left.min(budget - decodes);
            time += takes(tokens + decodes);
            left -= tokens;
        }
        check_time("step by step", step, [budget, decodes, prompt], time);
    }
}

#[test]
fn limit_long_times_are_exact() {
    let hour = Duration::from_secs(3599);
    let slow = Step { fixed: hour, per_token: hour };
    let expected = Duration::from_secs(3599 * (999_999 + 2 * 999_999));
    check_time("no product overflows", slow, [2, 1, 999_999], expected);
    let rule = "all counts are below a million, and their product with an hour is beyond 64 bits of nanoseconds";
    let expected = Duration::from_secs(3599 * (999_999 + 999_999 * 999_999));
    check_time(rule, slow, [999_999, 999_998, 999_999], expected);
    let rule = "to the nanosecond, however long it takes: an f64 has too few digits for it";
    let almost_an_hour = Step {
        fixed: Duration::from_secs(3600) - Duration::from_nanos(1),
        per_token: Duration::from_nanos(1),
    };
    let expected = Duration::new(3_599_996_400, 999_999);
    check_time(rule, almost_an_hour, [2, 1, 999_999], expected);
}
