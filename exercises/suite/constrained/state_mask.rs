use std::cell::Cell;

use super::state_mask::{Node, state_mask};
use crate::support::{Case, Random};

fn trie(tokens: &[Vec<u8>]) -> Node {
    let mut root = Node::default();
    for (id, bytes) in (0..).zip(tokens).filter(|(_, bytes)| !bytes.is_empty()) {
        let mut node = &mut root;
        for &byte in bytes {
            node = node.children.entry(byte).or_default();
        }
        node.tokens.push(id);
    }
    root
}

fn bytes(tokens: &[&str]) -> Vec<Vec<u8>> {
    tokens.iter().map(|token| token.as_bytes().to_vec()).collect()
}

/// The table of an automaton: the states that a state leads to.
type Table = Vec<Vec<(u8, usize)>>;

fn step(table: &Table, state: usize, byte: u8) -> Option<usize> {
    table[state].iter().find(|(read, _)| *read == byte).map(|(_, to)| *to)
}

/// How often an automaton has to be asked: for the children of nodes whose bytes can be read.
fn needed(node: &Node, table: &Table, state: usize) -> usize {
    let below = node.children.iter().map(|(&byte, child)| {
        step(table, state, byte).map_or(0, |after| needed(child, table, after))
    });
    node.children.len() + below.sum::<usize>()
}

fn check(rule: &str, tokens: &[Vec<u8>], table: &Table, state: usize) {
    let reads = |token: &Vec<u8>| {
        let end = token.iter().try_fold(state, |state, &byte| step(table, state, byte));
        !token.is_empty() && end.is_some()
    };
    let expected: Vec<bool> = tokens.iter().map(reads).collect();
    let case =
        || Case::rule(rule).given("tokens", tokens).given("table", table).given("state", state);
    let asked = Cell::new(0);
    let next = |state: usize, byte: u8| {
        asked.set(asked.get() + 1);
        step(table, state, byte)
    };
    let trie = trie(tokens);
    let first = case();
    first.equal(expected, state_mask(&trie, &next, state, tokens.len()));
    let needed = needed(&trie, table, state);
    let asked = asked.get();
    let words = format!("the automaton is asked {needed} times");
    case().holds(asked == needed, &words, format!("{asked} times"));
}

#[test]
fn the_example_of_the_task() {
    let tokens = bytes(&["a", "ab", "abb", "ba"]);
    let table = vec![vec![(b'a', 1)], vec![(b'b', 2)], vec![]];
    for state in 0..3 {
        check(
            "the example above the function: a token is allowed if each of its bytes can be read, and no child is asked for behind one that cannot",
            &tokens,
            &table,
            state,
        );
    }
}

#[test]
fn each_byte_is_read_in_the_state_that_the_byte_before_has_led_to() {
    let rule = "a token is read byte by byte, and each byte changes the state";
    let table = vec![vec![(b'a', 1)], vec![(b'b', 2)], vec![(b'a', 2), (b'c', 0)]];
    let tokens = bytes(&["aba", "abc", "abca", "abab", "aa", "cab", "baaac", "b", ""]);
    for state in 0..3 {
        check(rule, &tokens, &table, state);
    }
    let rule = "a token inside another one is allowed by itself";
    check(rule, &bytes(&["abc", "ab", "a", "abcabc"]), &table, 0);
    let rule = "a token may be long";
    check(rule, &bytes(&["abc", &"abc".repeat(20), &"abc".repeat(21)]), &table, 0);
    let rule = "a vocabulary may be large, and an id more than 8 bits";
    let many: Vec<Vec<u8>> = (0..700_u32)
        .map(|id| (0..6).map(|digit| b"abc"[(id / 3_u32.pow(digit) % 3) as usize]).collect())
        .collect();
    check(rule, &many, &table, 0);
    let rule = "nothing can be read in a state without a way on";
    check(rule, &bytes(&["a", "b"]), &vec![vec![]], 0);
    let rule = "all tokens with the same bytes are allowed";
    check(rule, &bytes(&["ab", "a", "ab"]), &table, 0);
}

#[test]
fn any_vocabulary_and_any_automaton() {
    let mut random = Random::new(15);
    for _ in 0..500 {
        let letters = 1 + random.below(3);
        let states = 1 + random.below(4);
        let mut table: Table = Vec::new();
        for _ in 0..states {
            let mut row = Vec::new();
            for letter in 0..letters {
                if random.below(3) > 0 {
                    row.push((b'a' + letter as u8, random.below(states)));
                }
            }
            table.push(row);
        }
        let count = random.below(25);
        let mut token = || -> Vec<u8> {
            let length = random.below(6);
            (0..length).map(|_| b'a' + random.below(letters) as u8).collect()
        };
        let tokens: Vec<Vec<u8>> = (0..count).map(|_| token()).collect();
        let state = random.below(states);
        check("the tokens that can be read, and no others", &tokens, &table, state);
    }
}

#[test]
fn bytes_need_not_be_ascii() {
    let rule = "a byte is any number from 0 to 255";
    let tokens = [&[0xc3, 0xa9][..], &[0xc3], &[0xff], &[0x00], &[0x00, 0xff]];
    let tokens: Vec<Vec<u8>> = tokens.iter().map(|token| token.to_vec()).collect();
    let table = vec![vec![(0xc3, 1), (0x00, 2)], vec![(0xa9, 0)], vec![(0xff, 0)]];
    for state in 0..3 {
        check(rule, &tokens, &table, state);
    }
}
