use super::stop_inside::FinishReason::{Eos, Length};
use super::stop_inside::{FinishReason, Limits, Taken, stop_inside};
use crate::support::{Case, Random};

/// `expected`: the tokens, how many of them are accepted, and why the text ended.
fn check(
    rule: &str,
    run: &[u32],
    generated: usize,
    (eos, max_tokens): (&[u32], usize),
    expected: (&[u32], usize, Option<FinishReason>),
) {
    let limits = Limits { eos: eos.to_vec(), max_tokens };
    let case =
        Case::rule(rule).given("run", run).given("generated", generated).given("limits", &limits);
    let (tokens, accepted, finish) = expected;
    let expected = Taken { tokens: tokens.to_vec(), accepted, finish };
    case.equal(expected, stop_inside(run, generated, &limits));
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: token by token: an end token is no part of the text, the limit counts before the next token is looked at";
    check(rule, &[5, 6, 2, 7], 10, (&[2], 20), (&[5, 6], 2, Some(Eos)));
    check(rule, &[5, 6, 2, 7], 10, (&[2], 12), (&[5, 6], 2, Some(Length)));
    check(rule, &[5, 6, 2, 7], 10, (&[2], 11), (&[5], 1, Some(Length)));
    check(rule, &[5, 6, 2, 7], 10, (&[9], 20), (&[5, 6, 2, 7], 3, None));
}

#[test]
fn an_end_of_sequence_token_ends_the_text() {
    let rule = "the text ends at an end-of-sequence token, which is not a part of it";
    check(rule, &[2, 5, 6], 0, (&[2], 20), (&[], 0, Some(Eos)));
    check(rule, &[5, 6, 2], 0, (&[2], 20), (&[5, 6], 2, Some(Eos)));
    check(rule, &[2], 7, (&[2], 20), (&[], 0, Some(Eos)));
    let rule = "the first of them ends it";
    check(rule, &[5, 2, 6, 2, 7], 0, (&[2], 20), (&[5], 1, Some(Eos)));
    let rule = "a model may have several end-of-sequence tokens";
    check(rule, &[5, 6, 3, 7, 2], 0, (&[2, 3], 20), (&[5, 6], 2, Some(Eos)));
    check(rule, &[5, 6, 2, 7, 3], 0, (&[2, 3], 20), (&[5, 6], 2, Some(Eos)));
    let rule = "they are in any order";
    for eos in [9, 7, 2, 8] {
        check(rule, &[5, eos, 6], 0, (&[9, 7, 2, 8], 20), (&[5], 1, Some(Eos)));
    }
    let rule = "a model may have no end-of-sequence token";
    check(rule, &[5, 2, 6], 0, (&[], 20), (&[5, 2, 6], 2, None));
}

#[test]
fn a_text_that_is_full_ends() {
    let rule = "the text ends as soon as `max_tokens` are generated";
    check(rule, &[5, 6, 7], 4, (&[2], 5), (&[5], 1, Some(Length)));
    check(rule, &[5, 6, 7], 4, (&[2], 6), (&[5, 6], 2, Some(Length)));
    let rule = "it also ends if the last token of the run makes it full";
    check(rule, &[5, 6, 7], 4, (&[2], 7), (&[5, 6, 7], 2, Some(Length)));
    check(rule, &[5], 4, (&[2], 5), (&[5], 0, Some(Length)));
    let rule = "it goes on if a token is missing";
    check(rule, &[5, 6, 7], 4, (&[2], 8), (&[5, 6, 7], 2, None));
    check(rule, &[5, 6, 7], 4, (&[2], usize::MAX), (&[5, 6, 7], 2, None));
}

#[test]
fn whatever_comes_first_is_the_reason() {
    let rule = "a token behind the one that makes the text full is not looked at";
    check(rule, &[5, 6, 2], 1, (&[2], 3), (&[5, 6], 2, Some(Length)));
    let rule = "an end-of-sequence token takes no place, so the text is not full";
    check(rule, &[5, 2, 6], 1, (&[2], 3), (&[5], 1, Some(Eos)));
    check(rule, &[2, 6], 2, (&[2], 3), (&[], 0, Some(Eos)));
    let rule = "a model without such a token writes until the text is full";
    check(rule, &[5, 6, 7], 1, (&[], 3), (&[5, 6], 2, Some(Length)));
    check(rule, &[5, 6, 7], 1, (&[], 9), (&[5, 6, 7], 2, None));
}

#[test]
fn only_guesses_that_are_taken_are_accepted() {
    let rule = "the last token of a run was not guessed";
    check(rule, &[5], 0, (&[2], 20), (&[5], 0, None));
    check(rule, &[5, 6], 0, (&[2], 20), (&[5, 6], 1, None));
    let rule = "neither a dropped guess nor an end-of-sequence token counts as accepted";
    check(rule, &[5, 6, 7, 8, 9], 0, (&[2], 2), (&[5, 6], 2, Some(Length)));
    check(rule, &[5, 6, 2, 8, 9], 0, (&[2], 20), (&[5, 6], 2, Some(Eos)));
}

#[test]
fn run_by_run_as_token_by_token() {
    let mut random = Random::new(31);
    for _ in 0..300 {
        let text: Vec<u32> = (0..40).map(|_| random.below(12) as u32).collect();
        let limits = Limits { eos: vec![2], max_tokens: 1 + random.below(39) };
        let eos = text.iter().position(|&token| token == 2).unwrap_or(40);
        let (length, reason) = if eos < limits.max_tokens {
            (eos, Eos)
        } else {
            (limits.max_tokens, Length)
        };
        let mut written = Vec::new();
        let mut finish = None;
        while finish.is_none() {
            let most = (text.len() - written.len()).min(5);
            let run = &text[written.len()..][..1 + random.below(most)];
            let case = Case::rule("a text in runs equals the text of one token at a time")
                .given("the sampled tokens", &text)
                .given("limits", &limits)
                .given("run", run)
                .given("generated", written.len());
            let taken = stop_inside(run, written.len(), &limits);
            let expected = &text[written.len()..length.min(written.len() + run.len())];
            case.equal(expected, &taken.tokens);
            case.equal(
                ("accepted", expected.len().min(run.len() - 1)),
                ("accepted", taken.accepted),
            );
            let looked_at = written.len() + run.len();
            let ends = looked_at > length || (looked_at == length && reason == Length);
            case.equal(ends.then_some(reason), taken.finish);
            written.extend(taken.tokens);
            finish = taken.finish;
        }
    }
}
