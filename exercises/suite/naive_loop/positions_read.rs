use super::positions_read::{Positions, positions_read};
use crate::support::Case;

fn check(rule: &str, prompt: u32, new_tokens: u32, naive: u64, first_time: u64) {
    let case = Case::rule(rule).given("prompt", prompt).given("new_tokens", new_tokens);
    case.equal(Positions { naive, first_time }, positions_read(prompt, new_tokens));
}

#[test]
fn one_step_reads_the_prompt() {
    for prompt in [1, 2, 7] {
        let rule = "the first step reads the prompt, and the token that it chooses is not read";
        check(rule, prompt, 1, prompt.into(), prompt.into());
    }
}

#[test]
fn each_step_reads_one_position_more() {
    let rule = "a step reads one position more than the step before it";
    check(rule, 1, 2, 3, 2);
    check(rule, 2, 3, 9, 4);
    check(rule, 4, 4, 22, 7);
    check(rule, 3, 5, 25, 7);
    check(rule, 1, 9, 45, 9);
}

#[test]
fn the_counts_of_the_chapter() {
    let rule = "the counts are the chapter's, with a prompt of 5 tokens";
    check(rule, 5, 32, 656, 36);
    check(rule, 5, 60, 2_070, 64);
    check(rule, 5, 480, 117_360, 484);
}

#[test]
fn no_step_reads_nothing() {
    for prompt in [1, 5, 1_000_000] {
        check("without a new token there is no step, and nothing is read", prompt, 0, 0, 0);
    }
}

#[test]
fn counts_that_are_greater_than_a_u32() {
    let rule = "the counts are right even if no u32 holds them";
    check(rule, 1, 100_000, 5_000_050_000, 100_000);
    check(rule, 100_000, 50_000, 6_249_975_000, 149_999);
    check(rule, 1_000_000, 1_000_000, 1_499_999_500_000, 1_999_999);
}
