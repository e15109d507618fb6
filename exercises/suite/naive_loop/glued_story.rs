use std::cell::RefCell;

use super::glued_story::glued_story;
use crate::support::{Case, Random};

const VOCABULARY: [&str; 8] = ["The", " cat", " s", "at", " sat", " down", " on", "."];

/// What that model finds most likely after each token.
const AFTER: [u32; 8] = [1, 2, 3, 5, 6, 7, 6, 0];

/// Logits with one best token.
fn one_best(best: u32, vocab: usize) -> Vec<f32> {
    (0..vocab).map(|id| if id == best as usize { 9.0 } else { 0.0 }).collect()
}

fn story(prompt: &str, max_tokens: usize) -> String {
    let model = |ids: &[u32]| one_best(AFTER[ids[ids.len() - 1] as usize], VOCABULARY.len());
    glued_story(&model, &VOCABULARY, prompt, max_tokens)
}

#[test]
fn the_story_that_was_reported() {
    let case = Case::rule("the story equals the one of the program that is known to be right")
        .given("vocabulary", VOCABULARY)
        .given("the most likely token after each", AFTER)
        .given("prompt", "The")
        .given("max_tokens", 5);
    case.equal(" cat sat down.".to_owned(), story("The", 5));
}

#[test]
fn the_next_sentence_too() {
    let case = Case::rule("the story equals the one of the program that is known to be right")
        .given("vocabulary", VOCABULARY)
        .given("the most likely token after each", AFTER)
        .given("prompt", "The cat")
        .given("max_tokens", 10);
    case.equal(" sat down.The cat sat down.".to_owned(), story("The cat", 10));
}

#[test]
fn a_prompt_is_cut_into_its_longest_pieces() {
    let case = Case::rule("a prompt is cut as before: at each place the longest piece that fits")
        .given("vocabulary", VOCABULARY)
        .given("the most likely token after each", AFTER)
        .given("prompt", "The cat sat")
        .given("max_tokens", 2);
    case.equal(" on on".to_owned(), story("The cat sat", 2));
}

#[test]
fn letters_of_several_bytes() {
    let vocabulary = ["é", " chat", " à", "."];
    let case = Case::rule("the text of the new tokens, without the prompt")
        .given("vocabulary", vocabulary)
        .given("the most likely token after each", [1, 2, 3, 0])
        .given("prompt", "éé à")
        .given("max_tokens", 4);
    let model = |ids: &[u32]| one_best((ids[ids.len() - 1] + 1) % 4, 4);
    case.equal(".é chat à".to_owned(), glued_story(&model, &vocabulary, "éé à", 4));
}

/// Lets a model choose the tokens of `script`, and compares what it was given at each step.
fn check_steps(rule: &str, vocabulary: &[&str], prompt: (&str, &[u32]), script: &[u32]) {
    let case = Case::rule(rule)
        .given("vocabulary", vocabulary)
        .given("prompt", prompt.0)
        .given("its ids", prompt.1)
        .given("the model chooses, in turn", script);
    let given = RefCell::new(Vec::new());
    let model = |ids: &[u32]| {
        let step = given.borrow().len();
        given.borrow_mut().push(ids.to_vec());
        one_best(script.get(step).copied().unwrap_or(0), vocabulary.len())
    };
    let text = glued_story(&model, vocabulary, prompt.0, script.len());
    let expected: Vec<Vec<u32>> =
        (0..script.len()).map(|step| [prompt.1, &script[..step]].concat()).collect();
    case.equal(expected, given.into_inner());
    let expected: String = script.iter().map(|&id| vocabulary[id as usize]).collect();
    case.equal(expected, text);
}

#[test]
fn the_model_is_given_what_it_chose() {
    let rule = "at each step the model is given the ids of the prompt, and then the ids it chose";
    let vocabulary = ["a", "b", "ab", "ba", "aa"];
    check_steps(rule, &vocabulary, ("ab", &[2]), &[0, 1]);
    check_steps(rule, &vocabulary, ("ab", &[2]), &[0, 0, 1, 0]);
    check_steps(rule, &["ab", "cde", "abc", "d", "e"], ("ab", &[0]), &[1, 3, 4]);
    let vocabulary = [" s", "at", " sat", ".", " on", "\n"];
    check_steps(rule, &vocabulary, (" on", &[4]), &[0, 1, 3, 4, 0, 1, 4, 0, 1, 5, 0, 1]);
    let vocabulary = ["a", "b", "ab", "ba", "aa"];
    let mut random = Random::new(5);
    for length in 1..12 {
        let script: Vec<u32> = (0..length).map(|_| random.below(5) as u32).collect();
        check_steps(rule, &vocabulary, ("aba", &[2, 0]), &script);
    }
}

#[test]
fn two_tokens_with_the_same_text() {
    let rule = "a token is its id: another token with the same text is another token";
    check_steps(rule, &["a", "b", "a"], ("b", &[1]), &[2, 2, 0]);
}

#[test]
fn the_prompt_is_cut_as_before() {
    let rule = "nothing is wrong with how a prompt is cut, and it stays as it is";
    check_steps(rule, &["a", "b", "a"], ("aba", &[0, 1, 0]), &[1]);
    check_steps(rule, &["ab", "a", "b"], ("abaab", &[0, 1, 0]), &[2, 1]);
    check_steps(rule, &["a", "b"], ("aaabb", &[0, 0, 0, 1, 1]), &[1]);
    check_steps(rule, &[" ", "a", "\n"], (" a \n", &[0, 1, 0, 2]), &[1]);
}

#[test]
fn the_text_is_all_of_what_was_chosen() {
    let rule = "the text has all tokens that were chosen, spaces and line ends too";
    check_steps(rule, &[" ", "a", "\n"], ("a", &[1]), &[0, 1, 2, 0, 0, 2]);
    check_steps(rule, &["some", " words"], ("some", &[0]), &[1; 50]);
    check_steps(rule, &["a"], ("a", &[0]), &[]);
}
