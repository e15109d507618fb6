use super::decode_positions::cached;
use crate::support::{Case, Random, ToyModel};

fn case(rule: &str, prompt: &[u32], max_tokens: usize) -> Case {
    Case::rule(rule).given("prompt", prompt).given("max_tokens", max_tokens)
}

/// The output, and the passes that it took: tokens and start of each.
fn run(prompt: &[u32], max_tokens: usize) -> (Vec<u32>, Vec<(Vec<u32>, usize)>) {
    let mut model = ToyModel::default();
    let output = cached(prompt, max_tokens, &mut |tokens, start| model.forward(tokens, start));
    (output, model.passes())
}

/// The loop without a cache: a new model reads the whole text at each step.
fn naive(prompt: &[u32], max_tokens: usize) -> Vec<u32> {
    let mut text = prompt.to_vec();
    for _ in 0..max_tokens {
        let logits = ToyModel::default().forward(&text, 0);
        let best = (0..logits.len()).rev().max_by(|&a, &b| logits[a].total_cmp(&logits[b]));
        text.push(best.expect("there are logits") as u32);
    }
    text[prompt.len()..].to_vec()
}

#[test]
fn the_prompt_is_one_pass() {
    for prompt in [vec![7], vec![7, 8, 9]] {
        let case = case("the whole prompt is read in one pass, the first", &prompt, 3);
        let (_, passes) = run(&prompt, 3);
        case.equal(Some(&(prompt.clone(), 0)), passes.first());
    }
}

#[test]
fn each_further_pass_reads_one_token() {
    let case = case("after the prompt each pass reads only the newest token", &[7, 8, 9], 4);
    let (_, passes) = run(&[7, 8, 9], 4);
    let lengths: Vec<usize> = passes.iter().skip(1).map(|(tokens, _)| tokens.len()).collect();
    case.holds(lengths.iter().all(|&length| length == 1), "passes of 1 token", &lengths);
}

#[test]
fn each_pass_starts_at_the_number_of_tokens_in_the_cache() {
    let prompt = [7, 8, 9];
    let case = case(
        "the token that was chosen last is not in the cache yet: starts go on without a gap",
        &prompt,
        4,
    );
    let (_, passes) = run(&prompt, 4);
    let starts: Vec<usize> = passes.iter().map(|&(_, start)| start).take(4).collect();
    case.equal(("starts", vec![0, 3, 4, 5]), ("starts", starts));
}

#[test]
fn every_token_is_read_once() {
    for (prompt, max_tokens) in [
        (vec![7, 8, 9], 1),
        (vec![7, 8, 9], 2),
        (vec![1, 2, 3, 4, 5], 4),
        (vec![1, 2], 20),
    ] {
        let rule = "rows = prompt tokens + new tokens - 1: all are read once, and the last is not";
        let case = case(rule, &prompt, max_tokens);
        let (_, passes) = run(&prompt, max_tokens);
        let rows: usize = passes.iter().map(|(tokens, _)| tokens.len()).sum();
        case.equal(("rows", prompt.len() + max_tokens - 1), ("rows", rows));
    }
}

#[test]
fn as_many_tokens_as_were_asked_for() {
    for max_tokens in 1..6 {
        let case = case("the text has max_tokens tokens", &[7, 8, 9], max_tokens);
        let (output, _) = run(&[7, 8, 9], max_tokens);
        case.equal(("tokens", max_tokens), ("tokens", output.len()));
    }
}

#[test]
fn of_equal_logits_the_first_is_taken() {
    let case = Case::rule("of equal logits the first is the most likely")
        .given("logits", [0.5, 1.0, 1.0])
        .given("max_tokens", 3);
    case.equal(vec![1; 3], cached(&[2], 3, &mut |_, _| vec![0.5, 1.0, 1.0]));
}

#[test]
fn any_logits_and_any_vocabulary() {
    let mut large = vec![0.0; 70_000];
    large[66_000] = 1.0;
    let mut middle = vec![-9.0; 1000];
    middle[300] = -8.0;
    for (shown, logits, best) in [
        ("-3, -1, -2", vec![-3.0, -1.0, -2.0], 1),
        ("-0.0, 0.0: they are equal", vec![-0.0, 0.0], 0),
        ("0, 1e-30: they are not", vec![0.0, 1e-30], 1),
        ("1000 of them, all -9, but -8 for the id 300", middle, 300),
        ("70000 of them, all 0, but 1 for the id 66000", large, 66_000),
    ] {
        let case = case("the id with the greatest logit, of equals the first", &[0], 2)
            .given("logits after each pass", shown);
        let found = cached(&[0], 2, &mut |_, _| logits.clone());
        case.equal(vec![best; 2], found);
    }
}

#[test]
fn the_text_is_that_of_the_naive_loop() {
    let mut random = Random::new(0);
    for length in 1..8 {
        let prompt: Vec<u32> = (0..length).map(|_| random.below(11) as u32).collect();
        for max_tokens in 1..20 {
            let case = case("the tokens equal the naive loop's", &prompt, max_tokens);
            case.equal(naive(&prompt, max_tokens), run(&prompt, max_tokens).0);
        }
    }
}
