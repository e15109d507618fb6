use std::ops::Range;

use super::blocks_behind::needed_blocks;
use crate::support::{Case, Random};

fn check(
    rule: &str,
    length: usize,
    windows: &[Option<usize>],
    block_size: usize,
    expected: Range<usize>,
) {
    let case = Case::rule(rule)
        .given("length", length)
        .given("windows", windows)
        .given("block_size", block_size);
    case.equal(expected, needed_blocks(length, windows, block_size));
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: the next query's widest window decides, and a layer without a window keeps all";
    check(rule, 100, &[Some(40)], 16, 3..7);
    check(rule, 100, &[Some(40), Some(8)], 16, 3..7);
    check(rule, 100, &[Some(40), None], 16, 0..7);
}

#[test]
fn the_next_query_decides() {
    let rule = "the next query is at position `length`, and counts itself: here 17..=32";
    check(rule, 32, &[Some(16)], 16, 1..2);
    let rule = "the next query attends to 16..=31";
    check(rule, 31, &[Some(16)], 16, 1..2);
    let rule = "the next query attends to 15..=30";
    check(rule, 30, &[Some(16)], 16, 0..2);
}

#[test]
fn a_short_text() {
    let rule = "a text that is shorter than the window keeps all of its blocks";
    check(rule, 10, &[Some(64)], 16, 0..1);
    check(rule, 63, &[Some(64)], 16, 0..4);
    check(rule, 17, &[None], 16, 0..2);
    check(rule, 3, &[None], 1, 0..3);
    let rule = "nothing is written yet";
    check(rule, 0, &[Some(8)], 16, 0..0);
    check(rule, 0, &[None, Some(8)], 16, 0..0);
}

#[test]
fn the_layer_that_looks_back_furthest() {
    let rule = "the widest window decides, wherever its layer is";
    check(rule, 200, &[Some(8), Some(100), Some(8)], 16, 6..13);
    check(rule, 200, &[Some(8), Some(8), Some(100)], 16, 6..13);
    let rule = "a layer without a window reads all";
    check(rule, 200, &[Some(8), None, Some(8)], 16, 0..13);
    check(rule, 200, &[None, Some(8)], 16, 0..13);
}

#[test]
fn a_window_of_one() {
    let rule = "a query that attends only to itself needs nothing that is written, but the block it goes to";
    check(rule, 20, &[Some(1)], 16, 1..2);
    check(rule, 32, &[Some(1)], 16, 2..2);
}

#[test]
fn a_long_text_holds_no_more_than_a_short_one() {
    let mut random = Random::new(43);
    for _ in 0..500 {
        let (length, size) = (random.below(5000), 1 + random.below(40));
        let windows: Vec<_> = (0..1 + random.below(4)).map(|_| 1 + random.below(90)).collect();
        let sees = |position: usize| {
            windows.iter().any(|window| position <= length && length - position < *window)
        };
        let oldest = (0..=length).find(|&position| sees(position)).expect("its own");
        let windows: Vec<_> = windows.into_iter().map(Some).collect();
        let expected = oldest / size..length.div_ceil(size);
        check(
            "the first block that the next query attends to",
            length,
            &windows,
            size,
            expected,
        );
    }
}
