use super::full_hit::{Chunk, Reader};
use crate::support::{Case, Random};

/// (start, tokens) of each chunk, and which of them want logits.
type Short = (Vec<(usize, usize)>, Vec<usize>);

fn short(chunks: &[Chunk]) -> Short {
    let short = chunks.iter().map(|chunk| (chunk.start, chunk.tokens.len())).collect();
    let wanting = (0..chunks.len()).filter(|&i| chunks[i].wants_logits).collect();
    (short, wanting)
}

fn tokens(count: u32) -> Vec<u32> {
    (1..=count).collect()
}

fn case(rule: &str, before: &[Vec<u32>], prompt: &[u32], token_budget: usize) -> Case {
    Case::rule(format!("{rule}: ((start, tokens) of each chunk, which of them want logits)"))
        .given("read before", before)
        .given("prompt", prompt)
        .given("token_budget", token_budget)
        .given("positions of a block", 4)
}

/// Reads the prompts of `before`, and then one more. `expected`: its chunks, (start, tokens). The last
/// wants logits.
fn check(
    rule: &str,
    before: &[Vec<u32>],
    (prompt, token_budget): (&[u32], usize),
    expected: &[(usize, usize)],
) {
    let case = case(rule, before, prompt, token_budget);
    let mut reader = Reader::new();
    for prompt in before {
        reader.read(prompt, token_budget);
    }
    let chunks = reader.read(prompt, token_budget);
    case.equal((expected.to_vec(), vec![expected.len() - 1]), short(&chunks));
    for chunk in &chunks {
        let expected = prompt.get(chunk.start..chunk.start + chunk.tokens.len());
        case.equal(expected.map(<[u32]>::to_vec), Some(chunk.tokens.clone()));
    }
}

#[test]
fn what_was_never_read_is_computed() {
    let rule = "the first time, all tokens are computed";
    check(rule, &[], (&tokens(8), 8), &[(0, 8)]);
    check(rule, &[], (&tokens(9), 4), &[(0, 4), (4, 4), (8, 1)]);
    check(rule, &[], (&[7], 1), &[(0, 1)]);
    check(rule, &[vec![9, 9, 9, 9, 5, 6, 7, 8]], (&tokens(9), 9), &[(0, 9)]);
}

#[test]
fn full_blocks_come_from_the_cache() {
    let rule = "what is cached is not computed again";
    check(rule, &[tokens(9)], (&tokens(9), 8), &[(8, 1)]);
    check(rule, &[tokens(6)], (&tokens(6), 8), &[(4, 2)]);
    check(rule, &[tokens(8)], (&[1, 2, 3, 4, 9, 6, 7, 8, 1], 8), &[(4, 5)]);
    check(rule, &[tokens(3)], (&tokens(3), 8), &[(0, 3)]);
    let rule = "a prompt of one block is in the cache too";
    check(rule, &[tokens(4)], (&tokens(6), 8), &[(4, 2)]);
    check(rule, &[tokens(4), tokens(4)], (&tokens(5), 8), &[(4, 1)]);
    let rule = "a prompt that was read whole is the beginning of a longer one";
    check(rule, &[tokens(8)], (&tokens(9), 8), &[(8, 1)]);
    check(rule, &[tokens(8), tokens(8)], (&tokens(15), 4), &[(8, 4), (12, 3)]);
}

#[test]
fn a_prompt_that_is_cached_as_a_whole_gets_its_logits() {
    let rule = "the last token is computed, with its block";
    check(rule, &[tokens(8)], (&tokens(8), 8), &[(4, 4)]);
    check(rule, &[tokens(4)], (&tokens(4), 8), &[(0, 4)]);
    check(rule, &[tokens(8), tokens(9)], (&tokens(8), 8), &[(4, 4)]);
    check(rule, &[tokens(16), tokens(16)], (&tokens(16), 16), &[(12, 4)]);
    let rule = "the beginning of a longer prompt is cached as a whole";
    check(rule, &[tokens(20)], (&tokens(12), 16), &[(8, 4)]);
    check(rule, &[tokens(400)], (&tokens(400), 16), &[(396, 4)]);
}

#[test]
fn the_budget_holds_for_what_is_left() {
    let rule = "the tokens that are left are read in chunks of the budget";
    check(rule, &[tokens(8)], (&tokens(8), 3), &[(4, 3), (7, 1)]);
    check(rule, &[tokens(8)], (&tokens(8), 1), &[(4, 1), (5, 1), (6, 1), (7, 1)]);
    check(rule, &[tokens(8)], (&tokens(12), 2), &[(8, 2), (10, 2)]);
}

#[test]
fn any_prompts() {
    let mut random = Random::new(9);
    for _ in 0..40 {
        let mut prompts = Vec::new();
        for _ in 0..8 {
            let prompt: Vec<u32> = (0..1 + random.below(17))
                .map(|i| {
                    if i % 3 == 0 {
                        random.below(2) as u32
                    } else {
                        5
                    }
                })
                .collect();
            prompts.push(prompt);
        }
        let (prompt, before) = prompts.split_last().expect("there are 8 prompts");
        let common = |other: &Vec<u32>| {
            let other = &other[..other.len() / 4 * 4];
            other.iter().zip(prompt).take_while(|(a, b)| a == b).count()
        };
        let common = before.iter().map(common).max().unwrap_or(0).min(prompt.len() - 1);
        let start = common / 4 * 4;
        let rule = "whole blocks that are cached, and never the last token";
        check(rule, before, (prompt, 99), &[(start, prompt.len() - start)]);
    }
}
