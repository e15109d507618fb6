use std::ops::Range;

use super::window_tiles::{Tile, window_tiles};
use crate::support::{Case, Random};

fn expected(queries: Range<usize>, window: Option<usize>, size: usize) -> Vec<(usize, Tile)> {
    let sees =
        |query: usize, key: usize| key <= query && window.is_none_or(|window| query - key < window);
    let mut tiles = Vec::new();
    for tile in 0..queries.end.div_ceil(size) {
        let mut looks = queries
            .clone()
            .flat_map(|query| (tile * size..(tile + 1) * size).map(move |key| sees(query, key)));
        let some = looks.clone().any(|seen| seen);
        if some {
            let all = looks.all(|seen| seen);
            tiles.push((tile, if all { Tile::Whole } else { Tile::Edge }));
        }
    }
    tiles
}

fn check(rule: &str, queries: Range<usize>, window: Option<usize>, size: usize) {
    let case =
        Case::rule(rule).given("queries", &queries).given("window", window).given("size", size);
    let found = window_tiles(queries.clone(), window, size);
    case.equal(expected(queries, window, size), found);
}

#[test]
fn the_example_of_the_task() {
    let case = Case::rule("the example above the function: from the first query's first key to the last query's last; whole if every query sees all of it")
        .given("queries", 70..72)
        .given("window", 40)
        .given("size", 16);
    let tiles = [
        (1, Tile::Edge),
        (2, Tile::Whole),
        (3, Tile::Whole),
        (4, Tile::Edge),
    ];
    case.equal(tiles.to_vec(), window_tiles(70..72, Some(40), 16));
}

#[test]
fn a_single_query() {
    let rule = "a tile that the query attends to as a whole needs no mask";
    check(rule, 63..64, Some(32), 16);
    check(rule, 63..64, Some(33), 16);
    check(rule, 63..64, Some(31), 16);
    check(rule, 64..65, Some(32), 16);
    check(rule, 15..16, None, 16);
    check(rule, 0..1, None, 16);
    check(rule, 0..1, Some(1), 1);
}

#[test]
fn the_first_query_begins_earlier_than_the_last() {
    let rule = "the first query of a group attends to tiles that the last does not";
    check(rule, 31..48, Some(16), 16);
    check(rule, 40..60, Some(8), 16);
    check(rule, 32..64, Some(16), 16);
}

#[test]
fn without_a_window() {
    let rule = "without a window, from tile 0 on";
    check(rule, 70..72, None, 16);
    check(rule, 0..40, None, 16);
    check(rule, 48..49, None, 16);
    let rule = "a window that is longer than the text is none";
    check(rule, 20..22, Some(100), 8);
    check(rule, 20..22, Some(22), 8);
}

#[test]
fn the_length_of_the_text_does_not_matter() {
    let rule = "as many tiles as the window has, however long the text is";
    check(rule, 100_000..100_001, Some(64), 32);
    check(rule, 100_031..100_032, Some(64), 32);
}

#[test]
fn any_group() {
    let mut random = Random::new(42);
    for _ in 0..1000 {
        let start = random.below(60);
        let queries = start..start + 1 + random.below(20);
        let window = (random.below(5) > 0).then(|| 1 + random.below(40));
        check("each tile, by its positions", queries, window, 1 + random.below(12));
    }
}
