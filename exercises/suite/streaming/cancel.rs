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

/// Step n gives the token 10 * n. `expected` has what happened, in order, and the ending.
fn check(rule: &str, plan: Plan, expected: (&[&str], Ending)) {
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
        match plan.break_at_token == Some(tokens) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let ending = generate(&mut step, plan.max_tokens, &cancelled, &mut on_token);

    let expected_calls: Vec<String> = expected.0.iter().map(|&call| call.to_owned()).collect();
    case.equal((expected_calls, expected.1), (calls.into_inner(), ending));
    let was_set = plan.set_during_step.is_some();
    let is_set = cancelled.load(Ordering::SeqCst);
    case.holds(is_set == was_set, "the flag as whoever owns it has set it", is_set);
}

#[test]
fn without_a_reason_to_stop_all_tokens_come() {
    let rule = "each token is handed over before the next step begins";
    let calls = [
        "step 1", "token 10", "step 2", "token 20", "step 3", "token 30",
    ];
    check(rule, Plan { max_tokens: 3, ..PLAN }, (&calls, Ending::Length));
}

#[test]
fn no_step_begins_once_the_flag_is_set() {
    let rule = "no step begins once the flag is set, and the token of that step is handed over";
    let plan = Plan { set_during_step: Some(1), ..PLAN };
    check(rule, plan, (&["step 1", "token 10"], Ending::Cancelled));
    let calls = [
        "step 1", "token 10", "step 2", "token 20", "step 3", "token 30",
    ];
    check(rule, Plan { set_during_step: Some(3), ..PLAN }, (&calls, Ending::Cancelled));
}

#[test]
fn the_flag_is_set_before_the_call() {
    let rule = "where the flag is set already, no step is taken";
    check(rule, Plan { set_during_step: Some(0), ..PLAN }, (&[], Ending::Cancelled));
}

#[test]
fn the_flag_is_set_during_the_last_step() {
    let rule = "a text with all its tokens was not cancelled";
    let plan = Plan { max_tokens: 2, set_during_step: Some(2), ..PLAN };
    check(rule, plan, (&["step 1", "token 10", "step 2", "token 20"], Ending::Length));
}

#[test]
fn no_tokens_are_asked_for() {
    let rule = "with max_tokens 0 there is no step, and the text has all its tokens";
    check(rule, Plan { max_tokens: 0, ..PLAN }, (&[], Ending::Length));
    let plan = Plan { max_tokens: 0, set_during_step: Some(0), ..PLAN };
    check(rule, plan, (&[], Ending::Length));
}

#[test]
fn the_reader_breaks() {
    let rule = "where on_token breaks, no further step is taken";
    let calls = ["step 1", "token 10", "step 2", "token 20"];
    check(rule, Plan { break_at_token: Some(2), ..PLAN }, (&calls, Ending::Stopped));
    let plan = Plan { max_tokens: 2, break_at_token: Some(2), ..PLAN };
    check(rule, plan, (&calls, Ending::Stopped));
    let plan = Plan { set_during_step: Some(2), break_at_token: Some(2), ..PLAN };
    check(rule, plan, (&calls, Ending::Stopped));
}
