use super::chained_hashes::{ROOT, block_hashes};
use crate::support::{Case, Random};

/// As in the task.
fn mix(hash: u64, token: u32) -> u64 {
    (hash ^ u64::from(token)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
}

fn case(rule: &str, tokens: &[u32], block_size: usize) -> Case {
    Case::rule(rule).given("tokens", tokens).given("block_size", block_size)
}

#[test]
fn the_first_block_begins_with_the_root() {
    let case = case("the first block begins with ROOT, and takes its tokens in order", &[7, 8], 2);
    case.equal(vec![mix(mix(ROOT, 7), 8)], block_hashes(&[7, 8], 2));
    let case = self::case("a block of one token", &[7], 1);
    case.equal(vec![mix(ROOT, 7)], block_hashes(&[7], 1));
}

#[test]
fn a_block_begins_with_the_hash_of_its_parent() {
    let tokens = [7, 8, 9, 10, 11, 12];
    let case = case("a block begins with the hash of the block before it", &tokens, 2);
    let first = mix(mix(ROOT, 7), 8);
    let second = mix(mix(first, 9), 10);
    let third = mix(mix(second, 11), 12);
    case.equal(vec![first, second, third], block_hashes(&tokens, 2));
}

#[test]
fn a_block_that_is_not_full_has_no_hash() {
    let rule = "one hash for each full block, and none for the rest: hashes";
    for (length, count) in [
        (0, 0),
        (1, 0),
        (3, 0),
        (4, 1),
        (5, 1),
        (7, 1),
        (8, 2),
        (9, 2),
    ] {
        let tokens: Vec<u32> = (0..length).collect();
        let case = case(rule, &tokens, 4);
        case.equal(count, block_hashes(&tokens, 4).len());
    }
    let case = case("a block larger than the text", &[1, 2, 3], usize::MAX);
    case.equal(0, block_hashes(&[1, 2, 3], usize::MAX).len());
}

#[test]
fn a_longer_text_begins_with_the_same_hashes() {
    let long: Vec<u32> = (0..40).map(|i| i * i).collect();
    let of_all = case("what comes later changes no hash", &long, 4);
    let all = block_hashes(&long, 4);
    drop(of_all);
    for length in 0..=40 {
        let case = case("what comes later changes no hash", &long[..length], 4);
        case.equal(all[..length / 4].to_vec(), block_hashes(&long[..length], 4));
    }
}

#[test]
fn a_block_is_told_from_others_by_all_that_stands_before_it() {
    for (rule, one, other) in [
        ("another first block: the second has another hash", [1, 2, 5, 6], [1, 3, 5, 6]),
        ("the order of tokens counts: both blocks differ", [1, 2, 5, 6], [2, 1, 5, 6]),
        ("the order of blocks counts: the second differs", [5, 6, 5, 6], [1, 2, 5, 6]),
        ("the token 0 counts: the second differs", [0, 0, 0, 0], [0, 1, 0, 0]),
    ] {
        let case = case(rule, &one, 2).given("other tokens", other);
        let (one, other) = (block_hashes(&one, 2), block_hashes(&other, 2));
        case.holds(one.get(1) != other.get(1), "two hashes that differ", (one, other));
    }
    let case = case("equal blocks in one text have hashes that differ", &[0, 0, 0, 0], 2);
    let hashes = block_hashes(&[0, 0, 0, 0], 2);
    case.holds(hashes.first() != hashes.get(1), "two hashes that differ", hashes);
}

#[test]
fn any_text_and_any_block_size() {
    let mut random = Random::new(10);
    for round in 0..40 {
        let block_size = [1, 2, 3, 4, 5, 6, 7, 16, 32, 64][round % 10];
        let tokens: Vec<u32> =
            (0..random.below(200)).map(|_| random.below(1 << 32) as u32).collect();
        let case =
            case("each hash takes the parent's hash and the block's tokens", &tokens, block_size);
        let hash = |end: usize| tokens[..end].iter().fold(ROOT, |hash, &token| mix(hash, token));
        let ends = 1..=tokens.len() / block_size;
        let expected: Vec<u64> = ends.map(|block| hash(block * block_size)).collect();
        case.equal(expected, block_hashes(&tokens, block_size));
    }
}
