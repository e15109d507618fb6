use super::expected_gain::{Costs, best_draft_length, speed_up, tokens_per_step};
use crate::support::{Case, Random};

fn costs(passes: &[f64], guess: f64) -> Costs {
    Costs { passes: passes.to_vec(), guess }
}

fn close(case: &Case, expected: f64, found: f64) {
    let near = (found - expected).abs() <= 1e-6 * expected.abs();
    case.holds(near, &format!("{expected}"), found);
}

fn check_tokens(rule: &str, acceptance: f64, guesses: usize, expected: f64) {
    let case = Case::rule(rule).given("acceptance", acceptance).given("guesses", guesses);
    close(&case, expected, tokens_per_step(acceptance, guesses));
}

fn check_speed_up(rule: &str, acceptance: f64, guesses: usize, costs: &Costs, expected: f64) {
    let case = Case::rule(rule)
        .given("acceptance", acceptance)
        .given("guesses", guesses)
        .given("costs", costs);
    close(&case, expected, speed_up(acceptance, guesses, costs));
}

fn check_best(rule: &str, acceptance: f64, costs: &Costs, expected: usize) {
    let case = Case::rule(rule).given("acceptance", acceptance).given("costs", costs);
    case.equal(expected, best_draft_length(acceptance, costs));
}

#[test]
fn the_examples_of_the_tasks() {
    let rule = "the example above the function: a guess counts only if all before it are right, a pass takes its measured time, and each guess the draft's";
    check_tokens(rule, 0.5, 3, 1.875);
    check_tokens(rule, 1.0, 3, 4.0);
    let costs = costs(&[1.0, 1.2, 1.4, 2.0], 0.1);
    check_speed_up(rule, 0.8, 2, &costs, 1.525);
    check_best(rule, 0.8, &costs, 2);
    check_best(rule, 0.2, &costs, 0);
}

#[test]
fn a_guess_counts_if_all_before_it_are_accepted() {
    let rule = "1 + a + a^2 + ... + a^guesses";
    for (acceptance, guesses, expected) in [
        (0.5, 0, 1.0),
        (0.5, 1, 1.5),
        (0.5, 2, 1.75),
        (0.8, 4, 3.3616),
        (0.25, 8, 1.333_328_247_070_312_5),
        (0.995, 8, 8.822_084_328),
        (0.999, 8, 8.964_083_874),
    ] {
        check_tokens(rule, acceptance, guesses, expected);
    }
}

#[test]
fn an_acceptance_of_0_and_of_1() {
    for guesses in [0, 1, 7, 1000] {
        check_tokens("nothing is accepted: one token", 0.0, guesses, 1.0);
        check_tokens(
            "all is accepted: the guesses and one token",
            1.0,
            guesses,
            guesses as f64 + 1.0,
        );
        let nearly = 1.0 - 1e-9;
        let tokens = guesses as f64 + 1.0;
        check_tokens(
            "nearly all is accepted",
            nearly,
            guesses,
            tokens - tokens * guesses as f64 * 5e-10,
        );
    }
}

#[test]
fn a_step_is_a_pass_of_a_row_more_and_the_guesses() {
    let rule = "tokens per step, times the pass of 1 row, over the pass of guesses + 1 rows";
    let free = costs(&[2.0, 3.0, 5.0], 0.0);
    check_speed_up(rule, 0.5, 1, &free, 1.0);
    check_speed_up(rule, 0.5, 2, &free, 0.7);
    check_speed_up(rule, 1.0, 2, &free, 1.2);
    let rule = "the draft's time for each guess";
    let draft = costs(&[2.0, 3.0, 5.0], 0.5);
    check_speed_up(rule, 1.0, 1, &draft, 4.0 / 3.5);
    check_speed_up(rule, 1.0, 2, &draft, 1.0);
    let rule = "without guesses nothing is gained or lost";
    check_speed_up(rule, 0.7, 0, &draft, 1.0);
    check_speed_up(rule, 0.7, 0, &costs(&[0.25], 9.0), 1.0);
}

#[test]
fn the_greatest_speed_up() {
    let rule = "the number of guesses with the greatest speed-up";
    let flat = costs(&[1.0, 1.0, 1.0, 1.0, 1.0], 0.0);
    check_best(rule, 0.5, &flat, 4);
    check_best(rule, 1.0, &costs(&[1.0, 1.1, 1.2, 3.5], 0.0), 2);
    let rule = "the table may have entries for many rows";
    check_best(rule, 0.9, &costs(&[1.0; 40], 0.0), 39);
    let rule =
        "a number of guesses that is worse than the one before may have better ones behind it";
    check_best(rule, 0.9, &costs(&[1.0, 2.5, 2.6, 1.5], 0.0), 3);
    check_best(rule, 0.9, &costs(&[1.0, 1.3, 2.9, 1.6, 4.0], 0.0), 3);
    let rule = "the greatest speed-up, by however little";
    check_best(rule, 1.0, &costs(&[1.0, 2.0 - 1e-7], 0.0), 1);
    let rule = "the draft's time decides too";
    check_best(rule, 0.8, &costs(&[1.0, 1.1, 1.2, 1.3], 0.3), 2);
    check_best(rule, 0.8, &costs(&[1.0, 1.1, 1.2, 1.3], 0.9), 0);
}

#[test]
fn of_several_the_fewest_guesses() {
    let rule = "of several with the same speed-up, the fewest guesses";
    check_best(rule, 1.0, &costs(&[1.0, 1.0, 1.5], 0.0), 1);
    let rule = "guessing does not pay if it is as fast as not guessing";
    check_best(rule, 0.5, &costs(&[1.0, 1.5], 0.0), 0);
    check_best(rule, 0.0, &costs(&[1.0, 1.0, 1.0], 0.0), 0);
}

#[test]
fn where_nothing_pays() {
    let rule = "0 if guessing does not pay";
    check_best(rule, 0.9, &costs(&[1.0, 2.0, 3.0, 4.0], 0.0), 0);
    check_best(rule, 0.3, &costs(&[1.0, 1.4, 1.5], 0.0), 0);
    let rule = "no number of rows but 1 was measured";
    check_best(rule, 0.9, &costs(&[1.0], 0.0), 0);
}

#[test]
fn any_costs() {
    let mut random = Random::new(5);
    for _ in 0..300 {
        let count = 1 + random.below(9);
        let passes: Vec<f64> = (0..count).map(|_| f64::from(random.float(1.0, 4.0))).collect();
        let costs = costs(&passes, f64::from(random.float(0.0, 0.3)));
        let acceptance = f64::from(random.float(0.0, 0.95));
        let case = Case::rule("no other number of guesses has a greater speed-up")
            .given("acceptance", acceptance)
            .given("costs", &costs);
        let gain = |guesses: usize| {
            let tokens = (1.0 - acceptance.powi(guesses as i32 + 1)) / (1.0 - acceptance);
            tokens * passes[0] / (passes[guesses] + guesses as f64 * costs.guess)
        };
        let found = best_draft_length(acceptance, &costs);
        case.holds(found < count, "fewer guesses than the table has entries", found);
        for guesses in 0..count {
            close(&case, gain(guesses), speed_up(acceptance, guesses, &costs));
            let expected = format!("not {found}, but {guesses} guesses or better ones");
            case.holds(gain(found) >= gain(guesses) * (1.0 - 1e-9), &expected, gain(found));
        }
    }
}
