use super::chunked_prefill::chunked_prefill;
use crate::support::{Case, ToyModel};

/// A pass: the tokens that it reads and the position of the first.
type Pass = (Vec<u32>, usize);

fn case(rule: &str, prompt: &[u32], cached: usize, chunk: usize) -> Case {
    Case::rule(rule).given("prompt", prompt).given("cached", cached).given("chunk", chunk)
}

fn check_passes(rule: &str, prompt: &[u32], cached: usize, chunk: usize, expected: Vec<Pass>) {
    let case = case(rule, prompt, cached, chunk);
    let mut model = ToyModel::default();
    chunked_prefill(prompt, cached, chunk, &mut |tokens, start| model.forward(tokens, start));
    case.equal(expected, model.passes());
}

#[test]
fn a_chunk_as_long_as_the_prompt_is_one_pass() {
    let rule = "a prompt that fits into one chunk is read in one pass of (tokens, start)";
    check_passes(rule, &[7, 8, 9], 0, 3, vec![(vec![7, 8, 9], 0)]);
    check_passes(rule, &[7, 8, 9], 0, 4, vec![(vec![7, 8, 9], 0)]);
    check_passes(rule, &[7], 0, usize::MAX, vec![(vec![7], 0)]);
}

#[test]
fn each_chunk_starts_where_the_one_before_ended() {
    let rule = "a chunk starts at the number of tokens that were read before it: (tokens, start)";
    check_passes(rule, &[7, 8, 9, 1], 0, 2, vec![(vec![7, 8], 0), (vec![9, 1], 2)]);
    let single = vec![(vec![7], 0), (vec![8], 1), (vec![9], 2)];
    check_passes(rule, &[7, 8, 9], 0, 1, single);
}

#[test]
fn the_last_chunk_may_be_shorter() {
    let rule = "the last chunk is what is left, and no token is left out: (tokens, start)";
    let passes = vec![(vec![7, 8], 0), (vec![9, 1], 2), (vec![2], 4)];
    check_passes(rule, &[7, 8, 9, 1, 2], 0, 2, passes);
    check_passes(rule, &[7, 8, 9, 1], 0, 3, vec![(vec![7, 8, 9], 0), (vec![1], 3)]);
}

#[test]
fn a_prompt_goes_on_behind_what_is_cached() {
    let rule = "the first chunk starts behind the tokens that are cached: (tokens, start)";
    check_passes(rule, &[7], 5, 2, vec![(vec![7], 5)]);
    check_passes(rule, &[7, 8, 9], 5, 2, vec![(vec![7, 8], 5), (vec![9], 7)]);
}

#[test]
fn the_logits_are_those_of_one_go() {
    let prompt = [4, 0, 9, 9, 2, 7, 1];
    let before = [3, 5];
    for cached in 0..=before.len() {
        for length in 1..=prompt.len() {
            for chunk in 1..=length + 1 {
                let prompt = &prompt[..length];
                let case = case(
                    "the logits follow the last token, as if the prompt were read in one go",
                    prompt,
                    cached,
                    chunk,
                );
                let model_with_cache = || {
                    let mut model = ToyModel::default();
                    model.forward(&before[..cached], 0);
                    model
                };
                let expected = model_with_cache().forward(prompt, cached);
                let mut model = model_with_cache();
                let found = chunked_prefill(prompt, cached, chunk, &mut |tokens, start| {
                    model.forward(tokens, start)
                });
                case.close(&expected, &found, 1e-4);
            }
        }
    }
}

#[test]
fn limit_a_chunk_may_be_as_great_as_a_number_can_be() {
    let rule = "a chunk may be any size: no sum with it may overflow (passes: tokens, start)";
    for chunk in [usize::MAX, usize::MAX - 1] {
        check_passes(rule, &[7, 8, 9], 0, chunk, vec![(vec![7, 8, 9], 0)]);
        check_passes(rule, &[7, 8, 9], 5, chunk, vec![(vec![7, 8, 9], 5)]);
    }
    let long: Vec<u32> = (0..1500).map(|i| i % 11).collect();
    check_passes(
        rule,
        &long,
        0,
        1400,
        vec![(long[..1400].to_vec(), 0), (long[1400..].to_vec(), 1400)],
    );
}
