use std::ops::Range;

use super::window_mask::window_mask;
use crate::support::{Case, Random};

fn check(rule: &str, queries: Range<usize>, first: usize, window: Option<usize>) {
    let seen = |query: usize, key: usize| {
        let distance = query.checked_sub(key);
        distance.is_some_and(|distance| window.is_none_or(|window| distance < window))
    };
    let row = |query| (first..queries.end).map(|key| seen(query, key)).collect();
    let expected: Vec<Vec<bool>> = queries.clone().map(row).collect();
    let case =
        Case::rule(rule).given("queries", &queries).given("first", first).given("window", window);
    case.equal(expected, window_mask(queries, first, window));
}

#[test]
fn the_example_of_the_task() {
    let rule = "the example above the function: `window` positions, including the query's own, and columns from the position `first` on";
    let case = Case::rule(rule).given("queries", 3..5).given("first", 1).given("window", 3);
    let expected = vec![vec![true, true, true, false], vec![false, true, true, true]];
    case.equal(expected, window_mask(3..5, 1, Some(3)));
}

#[test]
fn a_query_counts_itself() {
    let rule = "the window has the query's own position in it";
    check(rule, 5..6, 5, Some(1));
    check(rule, 5..6, 4, Some(2));
    check(rule, 0..4, 0, Some(1));
}

#[test]
fn no_query_looks_ahead() {
    let rule = "a query attends to no later position";
    check(rule, 0..5, 0, Some(2));
    check(rule, 0..5, 0, Some(100));
    check(rule, 0..5, 0, None);
}

#[test]
fn without_a_window_it_is_the_causal_mask() {
    let rule = "without a window, all positions up to the query's own";
    check(rule, 7..10, 0, None);
    check(rule, 9..10, 0, None);
    let rule = "the first positions of a text have fewer positions before them than the window has";
    check(rule, 0..6, 0, Some(4));
    check(rule, 2..4, 0, Some(9));
}

#[test]
fn columns_are_the_keys_that_are_left() {
    let rule = "the first column is the position `first`, and a window is about positions";
    check(rule, 40..43, 32, Some(8));
    check(rule, 40..43, 33, Some(8));
    check(rule, 100..101, 64, Some(33));
    check(rule, 64..66, 32, Some(32));
    let far = 1 << 40;
    check(rule, far..far + 2, far - 3, Some(4));
}

#[test]
fn any_window() {
    let mut random = Random::new(41);
    for _ in 0..500 {
        let window = 1 + random.below(12);
        let start = random.below(30);
        let first = random.below((start + 1).saturating_sub(window) + 1);
        let queries = start..start + 1 + random.below(8);
        check("each query, each key", queries, first, Some(window));
    }
}

#[test]
fn limit_a_window_may_be_greater_than_any_position() {
    let rule = "a window may be greater than any position: no sum overflows";
    check(rule, 1..2, 0, Some(usize::MAX));
    check(rule, 0..3, 0, Some(usize::MAX - 1));
}
