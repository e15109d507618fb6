use slowburn::sampling::SamplingParams;

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
fn texts_of_two_seeds_are_not_the_same_text_shifted() {
    for seed in 0..5 {
        let case = case("the text of a seed is not that of the next seed, one step later", seed);
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
