use slowburn::sampling::{Sampler, SamplingParams};

use super::one_word_story::one_word_story;
use crate::support::Case;

fn equally_likely(_: &[u32]) -> Vec<f32> {
    vec![0.0; 4]
}

fn params(seed: u64) -> SamplingParams {
    SamplingParams { seed, ..SamplingParams::default() }
}

fn case(rule: &str, seed: u64) -> Case {
    Case::rule(rule)
        .given("model", "four tokens, equally likely at every step")
        .given("seed", seed)
}

fn story(seed: u64, max_tokens: usize) -> Vec<u32> {
    one_word_story(&equally_likely, &[0, 1], &params(seed), max_tokens).unwrap_or_default()
}

#[test]
fn equally_likely_tokens_come_equally_often() {
    for seed in 0..3 {
        let case =
            case("each step draws anew: in 400 steps each token comes about 100 times", seed);
        let text = story(seed, 400);
        let mut counts = [0; 4];
        for &token in &text {
            counts[token as usize] += 1;
        }
        let even = counts.iter().all(|count| (60..=140).contains(count));
        case.holds(even, "4 counts from 60 to 140", counts);
    }
}

#[test]
fn the_same_seed_gives_the_same_text() {
    for seed in 0..3 {
        let case = case("the same seed gives the same text, whatever was written before", seed);
        let first = story(seed, 40);
        case.holds(first.len() == 40, "40 tokens", &first);
        case.equal(first, story(seed, 40));
    }
}

#[test]
fn another_seed_gives_another_text() {
    for seed in 0..5 {
        let case = case("another seed gives another text", seed).given("other seed", seed + 1);
        let (first, other) = (story(seed, 40), story(seed + 1, 40));
        case.holds(first != other, "two different texts", (&first, &other));
    }
}

#[test]
fn all_bits_of_the_seed_count() {
    for bit in [16, 31, 32, 48, 63] {
        let other = 1 << bit;
        let case = case("another seed gives another text", 0).given("other seed", other);
        let (first, other) = (story(0, 40), story(other, 40));
        case.holds(first != other, "two different texts", (&first, &other));
    }
}

#[test]
fn texts_of_two_seeds_are_not_the_same_text_shifted() {
    for seed in 0..5 {
        let case = case("the text of a seed is not the next seed's, one step later", seed);
        let (first, other) = (story(seed, 40), story(seed + 1, 40));
        let shifted = first.iter().skip(1).eq(other.iter().take(39));
        case.holds(!shifted, "texts that have nothing to do with each other", (&first, &other));
    }
}

#[test]
fn greedy_and_the_model_are_as_before() {
    let next = |text: &[u32]| {
        let last = *text.last().unwrap_or(&0);
        (0..5)
            .map(|id| {
                if id == (last + text.len() as u32) % 5 {
                    9.0
                } else {
                    0.0
                }
            })
            .collect()
    };
    let case = Case::rule("the model sees the whole text, and at 0 its best token comes")
        .given("model", "the best token is (the last + the length of the text) mod 5")
        .given("prompt", [1])
        .given("temperature", 0.0);
    let greedy = SamplingParams { temperature: 0.0, ..params(0) };
    let found = one_word_story(&next, &[1], &greedy, 5).unwrap_or_default();
    case.equal(vec![2, 4, 2, 1, 1], found);
}

#[test]
fn the_parameters_are_those_that_were_given() {
    let cold = SamplingParams { temperature: 0.05, ..params(3) };
    let one = SamplingParams { top_k: Some(1), ..params(3) };
    for (params, said) in [(cold, "temperature 0.05"), (one, "top_k 1")] {
        let case = Case::rule("all parameters count, not only the seed")
            .given("logits at every step", [0.0, 5.0, 0.0])
            .given("params", said);
        let found = one_word_story(&|_| vec![0.0, 5.0, 0.0], &[0, 1], &params, 200);
        case.equal(vec![1; 200], found.unwrap_or_default());
    }
}

#[test]
fn penalties_see_the_prompt_and_the_output() {
    let case = Case::rule("a repetition penalty counts the tokens of the prompt and the new ones")
        .given("logits at every step", [1.0; 4])
        .given("prompt", [0, 1])
        .given("params", "temperature 0, repetition_penalty 2");
    let params = SamplingParams { temperature: 0.0, repetition_penalty: 2.0, ..params(0) };
    let found = one_word_story(&|_| vec![1.0; 4], &[0, 1], &params, 3);
    case.equal(vec![2, 3, 0], found.unwrap_or_default());

    let case = Case::rule("a presence penalty counts the new tokens, and not the prompt's")
        .given("logits at every step", [1.0; 4])
        .given("prompt", [0, 1])
        .given("params", "temperature 0, presence_penalty 0.5");
    let params = SamplingParams { repetition_penalty: 1.0, presence_penalty: 0.5, ..params };
    let found = one_word_story(&|_| vec![1.0; 4], &[0, 1], &params, 4);
    case.equal(vec![0, 1, 2, 3], found.unwrap_or_default());
}

#[test]
fn errors_are_returned() {
    let case =
        Case::rule("parameters out of their range are an error").given("params", "temperature -1");
    let cold = SamplingParams { temperature: -1.0, ..params(0) };
    for max_tokens in [3, 0] {
        let found = one_word_story(&equally_likely, &[0], &cold, max_tokens);
        case.holds(found.is_err(), &format!("an error, also for {max_tokens} tokens"), &found);
    }

    let case = Case::rule("logits from which nothing can be drawn are an error")
        .given("logits", "good ones at the first two steps, and then NaN");
    let model = |text: &[u32]| vec![if text.len() < 3 { 0.0 } else { f32::NAN }; 4];
    let found = one_word_story(&model, &[0], &params(0), 5);
    case.holds(found.is_err(), "an error", &found);
}

#[test]
fn one_generator_for_the_whole_text() {
    for seed in 0..5 {
        let case = case("each token takes what comes next from the generator of the seed", seed);
        let mut sampler = Sampler::new(&params(seed)).expect("they are in their range");
        let mut expected = Vec::new();
        for _ in 0..600 {
            let token = sampler.sample(&equally_likely(&[]), &[0, 1], &expected);
            expected.push(token.expect("these logits are good"));
        }
        case.equal(expected, story(seed, 600));
    }
}
