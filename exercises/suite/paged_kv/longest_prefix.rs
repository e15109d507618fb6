use std::collections::HashMap;

use super::longest_prefix::{CachedBlock, ROOT, longest_prefix};
use crate::support::{Case, Random};

type Cache = HashMap<u64, CachedBlock>;
type Hash = fn(u64, &[u32]) -> u64;

fn good(parent: u64, tokens: &[u32]) -> u64 {
    tokens.iter().fold(parent ^ 0x9e37_79b9_7f4a_7c15, |hash, &token| {
        (hash ^ u64::from(token)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
    })
}

/// A cache with the full blocks of the texts. The first block is 30, the next 31, and so on.
fn cache(texts: &[&[u32]], block_size: usize, hash: Hash) -> Cache {
    let mut cache = Cache::new();
    for text in texts {
        let (mut hashed, mut parent) = (ROOT, None);
        for tokens in text.chunks_exact(block_size) {
            hashed = hash(hashed, tokens);
            let block = 30 + cache.len() as u32;
            let new = CachedBlock { block, parent, tokens: tokens.to_vec() };
            parent = Some(cache.entry(hashed).or_insert(new).block);
        }
    }
    cache
}

fn case(rule: &str, texts: &[&[u32]], prompt: &[u32], block_size: usize) -> Case {
    Case::rule(rule)
        .given("block_size", block_size)
        .given("texts whose full blocks are cached, as 30, 31, and so on", texts)
        .given("prompt", prompt)
}

fn check(rule: &str, texts: &[&[u32]], prompt: &[u32], block_size: usize, expected: &[u32]) {
    let case = case(rule, texts, prompt, block_size);
    let cache = cache(texts, block_size, good);
    case.equal(expected.to_vec(), longest_prefix(&cache, prompt, block_size, &good));
}

#[test]
fn the_example_of_the_task() {
    let texts: &[&[u32]] = &[&[1, 2, 3, 4, 5, 6]];
    let prompts: [(&[u32], &[u32]); 4] = [
        (&[1, 2, 3, 4, 5], &[30, 31]),
        (&[1, 2, 3, 4], &[30]),
        (&[1, 2, 9, 4, 5, 6], &[30]),
        (&[3, 4, 5, 6, 7], &[]),
    ];
    for (prompt, expected) in prompts {
        check(
            "the example above the function: whole blocks from the beginning, with the prompt's tokens behind the same blocks, and without the last token",
            texts,
            prompt,
            2,
            expected,
        );
    }
}

#[test]
fn the_blocks_follow_the_chain() {
    let rule = "each block is looked up under the hash of its parent and its tokens";
    check(
        rule,
        &[&[1, 2, 3, 4, 5, 6, 7, 8]],
        &[1, 2, 3, 4, 5, 6, 7, 8, 9],
        2,
        &[30, 31, 32, 33],
    );
    let rule = "two texts with a common beginning: the prompt follows the one that it agrees with";
    let texts: &[&[u32]] = &[&[1, 2, 3, 4], &[1, 2, 5, 6], &[9, 9, 3, 4]];
    check(rule, texts, &[1, 2, 5, 6, 7], 2, &[30, 32]);
    check(rule, texts, &[9, 9, 3, 4, 7], 2, &[33, 34]);
    check("nothing is cached", &[], &[1, 2, 3], 2, &[]);
}

#[test]
fn the_first_miss_is_the_end() {
    let rule = "behind a block that was evicted nothing counts, though it is there";
    let text: &[u32] = &[1, 2, 3, 4, 5, 6];
    let prompt = [1, 2, 3, 4, 5, 6, 7];
    for (evicted, expected) in [(30, vec![]), (31, vec![30]), (32, vec![30, 31])] {
        let case = case(rule, &[text], &prompt, 2).given("evicted", evicted);
        let mut cache = cache(&[text], 2, good);
        cache.retain(|_, cached| cached.block != evicted);
        case.equal(expected, longest_prefix(&cache, &prompt, 2, &good));
    }
    let rule = "a block behind a miss does not follow the last one that was found";
    check(rule, &[&[1, 2, 3, 4]], &[1, 2, 9, 9, 3, 4, 5], 2, &[30]);
    check(rule, &[&[1, 2, 3, 4]], &[9, 9, 1, 2, 3, 4, 5], 2, &[]);
}

#[test]
fn the_last_token_is_always_computed() {
    let rule = "a block with the last token in it is not taken";
    let text: &[u32] = &[1, 2, 3, 4, 5, 6];
    for (length, expected) in [
        (1, vec![]),
        (2, vec![]),
        (3, vec![30]),
        (4, vec![30]),
        (5, vec![30, 31]),
        (6, vec![30, 31]),
    ] {
        check(rule, &[text], &text[..length], 2, &expected);
    }
    check("blocks of one token", &[&[1, 2, 3]], &[1, 2, 3], 1, &[30, 31]);
    check("an empty prompt has no blocks", &[text], &[], 2, &[]);
    let rule = "a rest that fills no block is computed: all full blocks before it are taken";
    check(rule, &[&[1, 2, 3, 4, 5, 6]], &[1, 2, 3, 4, 5], 4, &[30]);
    check(rule, &[&[1, 2, 3, 4]], &[1, 2, 3, 4, 9, 9, 9], 4, &[30]);
}

#[test]
fn tokens_decide_where_hashes_agree() {
    let sum: Hash = |parent, tokens| parent + tokens.iter().map(|&t| u64::from(t)).sum::<u64>();
    for (rule, text, prompt, expected) in [
        (
            "another order has the same hash, and is no hit",
            [1, 2, 3, 4],
            [2, 1, 3, 4, 5],
            vec![],
        ),
        (
            "the second block has the same hash, and is no hit",
            [1, 2, 3, 4],
            [1, 2, 4, 3, 5],
            vec![30],
        ),
        ("the same tokens are a hit", [1, 2, 3, 4], [1, 2, 3, 4, 5], vec![30, 31]),
    ] {
        let case = case(rule, &[&text], &prompt, 2).given("hash", "the sum of all tokens so far");
        let cache = cache(&[&text], 2, sum);
        case.equal(expected, longest_prefix(&cache, &prompt, 2, &sum));
    }
    let rule = "a block with the same hash that is no hit ends the prefix as a missing one does";
    let (text, prompt) = ([1, 2, 3, 4, 5, 6], [1, 2, 4, 3, 5, 6, 7]);
    let case = case(rule, &[&text], &prompt, 2).given("hash", "the sum of all tokens so far");
    case.equal(vec![30], longest_prefix(&cache(&[&text], 2, sum), &prompt, 2, &sum));
}

#[test]
fn the_block_before_has_to_be_the_one_that_was_found() {
    let own: Hash = |_, tokens| tokens.iter().map(|&token| u64::from(token)).sum();
    let rule = "a block with the same tokens behind other ones is no hit";
    for (text, prompt, expected) in [
        ([1, 2, 5, 6], [3, 4, 5, 6, 7], vec![]),
        ([1, 2, 3, 4], [1, 2, 1, 2, 3], vec![30]),
        ([1, 2, 3, 4], [1, 2, 3, 4, 5], vec![30, 31]),
    ] {
        let case = case(rule, &[&text], &prompt, 2).given("hash", "the sum of the block's tokens");
        let cache = cache(&[&text], 2, own);
        case.equal(expected, longest_prefix(&cache, &prompt, 2, &own));
    }
    let case = case(rule, &[&[1, 2, 5, 6], &[3, 4]], &[3, 4, 5, 6, 7], 2)
        .given("hash", "the sum of the block's tokens");
    let cache = cache(&[&[1, 2, 5, 6], &[3, 4]], 2, own);
    case.equal(vec![32], longest_prefix(&cache, &[3, 4, 5, 6, 7], 2, &own));
}

#[test]
fn blocks_may_be_of_any_size() {
    let rule = "a block larger than the prompt: none";
    check(rule, &[&[1, 2, 3, 4]], &[1, 2, 3], 4, &[]);
    let case = case(rule, &[&[1, 2, 3, 4]], &[1, 2, 3], usize::MAX);
    let cache = cache(&[&[1, 2, 3, 4]], 4, good);
    case.equal(Vec::<u32>::new(), longest_prefix(&cache, &[1, 2, 3], usize::MAX, &good));
}

#[test]
fn any_prompt() {
    let mut random = Random::new(10);
    for round in 0..60 {
        let block_size = 1 + round % 4;
        let mut text =
            || -> Vec<u32> { (0..random.below(14)).map(|_| random.below(2) as u32).collect() };
        let (one, other, prompt) = (text(), text(), text());
        let texts = [one.as_slice(), other.as_slice()];
        let case =
            case("as many blocks as one of the texts begins with", &texts, &prompt, block_size);
        let cache = cache(&texts, block_size, good);
        let common = |text: &[u32]| {
            let full = text.len() / block_size * block_size;
            text[..full].iter().zip(&prompt).take_while(|(a, b)| a == b).count()
        };
        let common = common(&one).max(common(&other)).min(prompt.len().saturating_sub(1));
        let found = longest_prefix(&cache, &prompt, block_size, &good);
        case.equal(("blocks", common / block_size), ("blocks", found.len()));
        for (block, tokens) in found.iter().zip(prompt.chunks(block_size)) {
            let of_block = cache.values().find(|cached| cached.block == *block);
            case.equal(Some(tokens), of_block.map(|cached| cached.tokens.as_slice()));
        }
    }
}

#[test]
fn all_tokens_of_a_block_decide() {
    let sum: Hash =
        |parent, tokens| (parent + tokens.iter().map(|&token| u64::from(token)).sum::<u64>()) % 256;
    for (rule, text, prompt) in [
        ("the same first token and the same hash, and no hit", [1, 2, 3], [1, 3, 2, 4]),
        ("the same last token and the same hash, and no hit", [1, 2, 3], [2, 1, 3, 4]),
        ("an id is a number like any other: 257 is not 1", [1, 2, 3], [257, 2, 3, 4]),
    ] {
        let case =
            case(rule, &[&text], &prompt, 3).given("hash", "the sum of all tokens so far, mod 256");
        let cache = cache(&[&text], 3, sum);
        case.equal(Vec::<u32>::new(), longest_prefix(&cache, &prompt, 3, &sum));
    }
}

#[test]
fn a_prefix_may_be_long() {
    let text: Vec<u32> = (0..200).collect();
    let case = Case::rule("all blocks that are cached, however many, and the first may be block 0")
        .given("block_size", 2)
        .given("cached, as blocks 0 to 99, and prompt", "0 1 2 ... 199");
    let mut cache = cache(&[&text], 2, good);
    for cached in cache.values_mut() {
        cached.block -= 30;
        cached.parent = cached.parent.map(|parent| parent - 30);
    }
    let expected: Vec<u32> = (0..99).collect();
    case.equal(expected, longest_prefix(&cache, &text, 2, &good));
}
