use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use super::cancel::{Ending, generate};
use crate::support::Case;

/// What is to happen. Steps and tokens are counted from 1.
#[derive(Debug, Clone, Copy)]
struct Plan {
    max_tokens: usize,
    /// The flag is set during this step. 0: before the call.
    set_during_step: Option<usize>,
    /// `on_token` breaks at this token.
    break_at_token: Option<usize>,
}

const PLAN: Plan = Plan { max_tokens: 5, set_during_step: None, break_at_token: None };

/// Step n gives the token 10 * n. `expected`: the steps, each with its token behind it, and the ending.
fn check(rule: &str, plan: Plan, expected: (usize, Ending)) {
    let case = Case::rule(format!("{rule} (shown: what was called, in order)")).given("plan", plan);
    let cancelled = AtomicBool::new(plan.set_during_step == Some(0));
    let calls = RefCell::new(Vec::new());
    let (mut steps, mut tokens) = (0, 0);
    let mut step = || {
        steps += 1;
        calls.borrow_mut().push(format!("step {steps}"));
        if plan.set_during_step == Some(steps) {
            cancelled.store(true, Ordering::SeqCst);
        }
        10 * steps as u32
    };
    let mut on_token = |token| {
        tokens += 1;
        calls.borrow_mut().push(format!("token {token}"));
        if plan.break_at_token == Some(tokens) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let ending = generate(&mut step, plan.max_tokens, &cancelled, &mut on_token);

    let called = |i: usize| [format!("step {i}"), format!("token {}", 10 * i)];
    case.equal((1..=expected.0).flat_map(called).collect(), calls.into_inner());
    let why = Case::rule("the ending says why: Stopped if on_token broke, Length if all tokens are there, else Cancelled")
        .given("plan", plan);
    why.equal(expected.1, ending);
    let was_set = plan.set_during_step.is_some();
    let is_set = cancelled.load(Ordering::SeqCst);
    case.holds(is_set == was_set, "the flag as its owner has set it", is_set);
}

#[test]
fn without_a_reason_to_stop_all_tokens_come() {
    let rule = "each token is handed over before the next step begins";
    check(rule, Plan { max_tokens: 3, ..PLAN }, (3, Ending::Length));
}

#[test]
fn no_step_begins_once_the_flag_is_set() {
    let rule = "no step begins once the flag is set, and the token of that step is handed over";
    let plan = Plan { set_during_step: Some(1), ..PLAN };
    check(rule, plan, (1, Ending::Cancelled));
    check(rule, Plan { set_during_step: Some(3), ..PLAN }, (3, Ending::Cancelled));
    for max_tokens in [4, usize::MAX] {
        let plan = Plan { max_tokens, set_during_step: Some(3), ..PLAN };
        check(rule, plan, (3, Ending::Cancelled));
    }
    for step in [9, 10, 15, 17, 100] {
        let plan = Plan { max_tokens: 200, set_during_step: Some(step), ..PLAN };
        check(rule, plan, (step, Ending::Cancelled));
    }
}

#[test]
fn the_flag_is_set_while_a_token_is_handed_over() {
    let case = Case::rule("no step begins once the flag is set, even if `on_token` set it")
        .given("max_tokens", 5)
        .given("the flag is set", "while the second token is handed over");
    let cancelled = AtomicBool::new(false);
    let (mut steps, mut tokens) = (0, 0);
    let mut step = || {
        steps += 1;
        7
    };
    let mut on_token = |_| {
        tokens += 1;
        if tokens == 2 {
            cancelled.store(true, Ordering::SeqCst);
        }
        ControlFlow::Continue(())
    };
    let ending = generate(&mut step, 5, &cancelled, &mut on_token);
    case.equal(("steps", 2, "tokens", 2), ("steps", steps, "tokens", tokens));
    case.equal(Ending::Cancelled, ending);
}

#[test]
fn any_id_is_a_token() {
    let case = Case::rule("every token is handed over, whatever its id is, and ends nothing")
        .given("tokens", [0, u32::MAX, 0, 1, 2]);
    let given = [0, u32::MAX, 0, 1, 2];
    let mut steps = given.iter().copied();
    let mut seen = Vec::new();
    let ending =
        generate(&mut || steps.next().unwrap_or(9), 5, &AtomicBool::new(false), &mut |token| {
            seen.push(token);
            ControlFlow::Continue(())
        });
    case.equal((given.to_vec(), Ending::Length), (seen, ending));
}

#[test]
fn the_flag_is_set_before_the_call() {
    let rule = "if the flag is set already, no step is taken";
    check(rule, Plan { set_during_step: Some(0), ..PLAN }, (0, Ending::Cancelled));
}

#[test]
fn the_flag_is_set_during_the_last_step() {
    let rule = "a text with all its tokens was not cancelled";
    let plan = Plan { max_tokens: 2, set_during_step: Some(2), ..PLAN };
    check(rule, plan, (2, Ending::Length));
    let plan = Plan { max_tokens: 3, set_during_step: Some(3), ..PLAN };
    check(rule, plan, (3, Ending::Length));
}

#[test]
fn a_long_text() {
    let rule = "as many steps as were asked for, however many";
    check(rule, Plan { max_tokens: 3000, ..PLAN }, (3000, Ending::Length));
}

#[test]
fn no_tokens_are_asked_for() {
    let rule = "with max_tokens 0 there is no step, and the text has all its tokens";
    check(rule, Plan { max_tokens: 0, ..PLAN }, (0, Ending::Length));
    let plan = Plan { max_tokens: 0, set_during_step: Some(0), ..PLAN };
    check(rule, plan, (0, Ending::Length));
}

#[test]
fn the_reader_breaks() {
    let rule = "if on_token breaks, no further step is taken";
    let plan = Plan { break_at_token: Some(1), ..PLAN };
    check(rule, plan, (1, Ending::Stopped));
    check(rule, Plan { break_at_token: Some(2), ..PLAN }, (2, Ending::Stopped));
    let plan = Plan { max_tokens: 2, break_at_token: Some(2), ..PLAN };
    check(rule, plan, (2, Ending::Stopped));
    let plan = Plan { set_during_step: Some(2), break_at_token: Some(2), ..PLAN };
    check(rule, plan, (2, Ending::Stopped));
    let plan = Plan { set_during_step: Some(3), break_at_token: Some(3), ..PLAN };
    check(rule, plan, (3, Ending::Stopped));
}
