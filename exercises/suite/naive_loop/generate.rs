use std::cell::RefCell;

use super::generate::{End, generate};
use crate::support::Case;

const COUNTS_ON: &str = "counts on: 3 after 2, and 0 after 9";

/// Calls the code under test, and compares the tokens, the reason, and how often the model was
/// called.
fn check(rule: &str, prompt: &[u32], eos: &[u32], limits: [usize; 2], expected: (&[u32], End)) {
    let [max_tokens, context] = limits;
    let case = Case::rule(rule)
        .given("model", COUNTS_ON)
        .given("prompt", prompt)
        .given("eos", eos)
        .given("max_tokens", max_tokens)
        .given("context", context);
    let model = |text: &[u32]| {
        case.told(
            text.len() <= context,
            "a text that ends where the context is full",
            &format!("the model is asked what follows {} tokens", text.len()),
        );
        let next = (text[text.len() - 1] + 1) % 10;
        (0..10).map(|id| if id == next { 20.0 } else { -(id as f32) }).collect()
    };
    let (ids, end) = generate(&model, prompt, eos, max_tokens, context);
    case.equal((expected.0.to_vec(), expected.1), (ids, end));
}

#[test]
fn an_end_token_ends_the_text_and_is_not_kept() {
    let rule = "an end token ends the text, and is no part of it";
    check(rule, &[2, 3], &[6], [10, 100], (&[4, 5], End::Eos));
    check(rule, &[7], &[0], [10, 100], (&[8, 9], End::Eos));
    check(rule, &[5], &[6], [10, 100], (&[], End::Eos));
    check(rule, &[1, 4, 5], &[6], [10, 100], (&[], End::Eos));
}

#[test]
fn an_end_token_at_the_last_step() {
    let rule = "an end token that is chosen at the last step ends the text, and not the limit";
    check(rule, &[2, 3], &[6], [3, 100], (&[4, 5], End::Eos));
    check(rule, &[2, 3], &[6], [10, 5], (&[4, 5], End::Eos));
    check(rule, &[2, 3], &[6], [3, 5], (&[4, 5], End::Eos));
    check(rule, &[5], &[6], [1, 100], (&[], End::Eos));
    let rule = "an end token that would have come after the last step was not chosen";
    check(rule, &[2, 3], &[6], [2, 100], (&[4, 5], End::Length));
    check(rule, &[2, 3], &[6], [10, 4], (&[4, 5], End::Context));
}

#[test]
fn a_text_may_be_long() {
    let case = Case::rule("as many tokens as `max_tokens` allows")
        .given("model", COUNTS_ON)
        .given("prompt", [2])
        .given("max_tokens, context", [3000, 5000]);
    let model = |text: &[u32]| {
        let next = (text[text.len() - 1] + 1) % 10;
        (0..10).map(|id| if id == next { 20.0 } else { -(id as f32) }).collect()
    };
    let (ids, end) = generate(&model, &[2], &[], 3000, 5000);
    case.equal((3000, End::Length), (ids.len(), end));
}

#[test]
fn there_may_be_several_end_tokens() {
    let rule = "each of the end tokens ends the text";
    check(rule, &[2], &[5, 8], [10, 100], (&[3, 4], End::Eos));
    check(rule, &[2], &[8, 5], [10, 100], (&[3, 4], End::Eos));
    for eos in [[5, 9, 0, 1], [9, 0, 1, 5], [9, 5, 0, 1], [1, 0, 5, 9]] {
        check(rule, &[2], &eos, [10, 100], (&[3, 4], End::Eos));
    }
    let rule = "without an end token the text goes on to the length that was asked for";
    check(rule, &[2], &[], [4, 100], (&[3, 4, 5, 6], End::Length));
}

#[test]
fn an_end_token_in_the_prompt_ends_nothing() {
    let rule = "a token of the prompt ends nothing: only what the model chooses does";
    check(rule, &[6, 2], &[6], [2, 100], (&[3, 4], End::Length));
    check(rule, &[2, 6], &[6], [2, 100], (&[7, 8], End::Length));
    let rule = "an end token that the model chooses ends the text, also one that the prompt has";
    check(rule, &[6, 4], &[6], [10, 100], (&[5], End::Eos));
}

#[test]
fn max_tokens_counts_new_tokens_only() {
    let rule = "as many new tokens as max_tokens allows, whatever the prompt is";
    check(rule, &[1], &[], [3, 100], (&[2, 3, 4], End::Length));
    check(rule, &[8, 4, 4, 1], &[], [3, 100], (&[2, 3, 4], End::Length));
    check(rule, &[1], &[], [1, 100], (&[2], End::Length));
    let rule = "a token may come again and again";
    let expected: Vec<u32> = (2..40).map(|id| id % 10).collect();
    check(rule, &[1], &[], [38, 100], (&expected, End::Length));
}

#[test]
fn the_context_counts_the_prompt_too() {
    let rule = "the prompt and the new tokens are together no more than the context";
    check(rule, &[1], &[], [10, 3], (&[2, 3], End::Context));
    check(rule, &[8, 4, 4, 1], &[], [10, 6], (&[2, 3], End::Context));
    check(rule, &[8, 4, 4, 1], &[], [3, 6], (&[2, 3], End::Context));
}

#[test]
fn no_room_at_all() {
    check(
        "a prompt that fills the context leaves no room",
        &[8, 4],
        &[],
        [10, 2],
        (&[], End::Context),
    );
    check("no token was asked for", &[8, 4], &[], [0, 100], (&[], End::Length));
}

#[test]
fn two_limits_at_the_same_token() {
    let rule = "if max_tokens and the context end the text at the same token, it is Length";
    check(rule, &[1, 2], &[], [3, 5], (&[3, 4, 5], End::Length));
    check(rule, &[1, 2], &[], [0, 2], (&[], End::Length));
}

/// What the model is given in the run that `check` would make.
fn calls(prompt: &[u32], eos: &[u32], max_tokens: usize, context: usize) -> Vec<Vec<u32>> {
    let calls = RefCell::new(Vec::new());
    let model = |text: &[u32]| {
        calls.borrow_mut().push(text.to_vec());
        let next = (text[text.len() - 1] + 1) % 10;
        (0..10).map(|id| if id == next { 20.0 } else { -(id as f32) }).collect()
    };
    generate(&model, prompt, eos, max_tokens, context);
    calls.into_inner()
}

#[test]
fn the_model_reads_the_whole_text_at_each_step() {
    let case = Case::rule("each step gives the model the prompt and all new tokens, and no more")
        .given("model", COUNTS_ON)
        .given("prompt", [7, 2])
        .given("eos", [6])
        .given("max_tokens", 10)
        .given("context", 100);
    let expected = vec![
        vec![7, 2],
        vec![7, 2, 3],
        vec![7, 2, 3, 4],
        vec![7, 2, 3, 4, 5],
    ];
    case.equal(expected, calls(&[7, 2], &[6], 10, 100));
}

#[test]
fn a_long_text_is_read_whole_too() {
    let case = Case::rule("each step gives the model the whole text, however long it is")
        .given("model", COUNTS_ON)
        .given("prompt", "5000 times the token 1")
        .given("max_tokens", 2);
    let lengths: Vec<usize> = calls(&[1; 5000], &[], 2, 9000).iter().map(Vec::len).collect();
    case.equal(vec![5000, 5001], lengths);
}

#[test]
fn the_model_is_not_called_for_nothing() {
    for (max_tokens, context, expected) in [(2, 100, 2), (10, 4, 2), (0, 100, 0), (10, 2, 0)] {
        let case = Case::rule("the model is not called when no further token can be kept")
            .given("model", COUNTS_ON)
            .given("prompt", [1, 2])
            .given("max_tokens", max_tokens)
            .given("context", context);
        let found = calls(&[1, 2], &[], max_tokens, context);
        let condition = format!("{expected} calls");
        case.holds(found.len() == expected, &condition, &found);
    }
}

#[test]
fn a_logit_that_is_hardly_greater() {
    let case = Case::rule("the token is the one with the greatest logit, by however little")
        .given("logits at every step", [1.25, 1.0, 1.5, 1.375])
        .given("prompt", [0])
        .given("max_tokens", 1);
    let model = |_: &[u32]| vec![1.25, 1.0, 1.5, 1.375];
    case.equal((vec![2], End::Length), generate(&model, &[0], &[], 1, 100));
}

#[test]
fn the_greatest_logit_wins_also_below_zero() {
    for (wherever, logits) in [
        ("below 0", [-3.0, -2.0, -1.0, -4.0]),
        ("low", [-3e9, -2e9, -1e9, -4e9]),
    ] {
        let rule = "the token is the one with the greatest logit, even if all are";
        let case = Case::rule(format!("{rule} {wherever}"))
            .given("logits at every step", logits)
            .given("prompt", [0])
            .given("max_tokens", 2);
        let model = |_: &[u32]| logits.to_vec();
        case.equal((vec![2, 2], End::Length), generate(&model, &[0], &[], 2, 100));
    }
}

#[test]
fn a_token_again_and_again_is_no_end() {
    let case = Case::rule("only an end token and the limits end a text, and not one that repeats")
        .given("logits at every step", [0.0, 1.0])
        .given("prompt", [0])
        .given("max_tokens", 40);
    let model = |_: &[u32]| vec![0.0, 1.0];
    case.equal((vec![1; 40], End::Length), generate(&model, &[0], &[], 40, 100));
}

#[test]
fn a_large_vocabulary() {
    let case = Case::rule("an id may be greater than a byte or two can hold")
        .given("logits at every step", "70,000, of which number 66,000 is the greatest")
        .given("prompt", [0])
        .given("eos", [464])
        .given("max_tokens", 1);
    let model = |_: &[u32]| (0..70_000).map(|id| if id == 66_000 { 1.0 } else { -1.0 }).collect();
    case.equal((vec![66_000], End::Length), generate(&model, &[0], &[464], 1, 100));
}

#[test]
fn limit_limits_as_great_as_can_be() {
    let rule = "the limits may be any usize";
    check(rule, &[2, 3], &[6], [usize::MAX, 100], (&[4, 5], End::Eos));
    check(rule, &[2, 3], &[6], [usize::MAX; 2], (&[4, 5], End::Eos));
    check(rule, &[2, 3], &[], [2, usize::MAX], (&[4, 5], End::Length));
    check(rule, &[2, 3], &[], [usize::MAX, 4], (&[4, 5], End::Context));
    let above_u32 = (u32::MAX as usize).saturating_add(1);
    check(rule, &[2, 3], &[6], [above_u32, 100], (&[4, 5], End::Eos));
    check(rule, &[2, 3], &[6], [10, above_u32], (&[4, 5], End::Eos));
}
