use super::rows_of_tiles::{Costs, ROWS, Split, split};
use crate::support::Case;

const COSTS: Costs = Costs { tile: 40, lay_out: 1, row: 10 };

#[track_caller]
fn splits(rule: &str, rows: u64, costs: Costs, tiles: u64, alone: u64, cycles: u64) {
    let case = Case::rule(rule).given("rows", rows).given("costs", costs);
    case.equal(Split { tiles, alone, cycles }, split(rows, costs));
}

#[test]
fn no_rows_cost_nothing() {
    splits("without rows there is nothing to multiply", 0, COSTS, 0, 0, 0);
    let free = Costs { tile: 0, lay_out: 0, row: 10 };
    splits("without rows there is no tile, even if it is free", 0, free, 0, 0, 0);
}

#[test]
fn few_rows_go_alone() {
    splits("a tile takes as long for one row as for sixteen", 1, COSTS, 0, 1, 10);
    splits("4 rows alone cost 40, a tile 40 + 4", 4, COSTS, 0, 4, 40);
}

#[test]
fn a_tile_pays_before_it_is_full() {
    splits("5 rows alone cost 50, a tile 40 + 5", 5, COSTS, 1, 0, 45);
    splits("a full tile costs 40 + 16", ROWS, COSTS, 1, 0, 56);
}

#[test]
fn each_row_must_be_laid_out() {
    let costs = Costs { lay_out: 3, ..COSTS };
    splits("5 rows: a tile costs 40 + 5 * 3, alone 50", 5, costs, 0, 5, 50);
    splits("6 rows: a tile costs 40 + 6 * 3, alone 60", 6, costs, 1, 0, 58);
    let costs = Costs { lay_out: 10, ..COSTS };
    let rule = "if laying a row out costs as much as the row, no tile ever pays";
    splits(rule, 40, costs, 0, 40, 400);
}

#[test]
fn where_both_cost_the_same_rows_go_alone() {
    let costs = Costs { tile: 45, ..COSTS };
    splits("5 rows: 45 + 5 and 5 * 10 cost the same, so alone", 5, costs, 0, 5, 50);
    let costs = Costs { tile: 144, ..COSTS };
    splits("16 rows: 144 + 16 and 160 cost the same, so alone", ROWS, costs, 0, ROWS, 160);
}

#[test]
fn rows_behind_full_tiles_choose_anew() {
    splits("20 rows: a full tile, and 4 that go alone", 20, COSTS, 1, 4, 96);
    splits("21 rows: a full tile, and one for 5", 21, COSTS, 2, 0, 101);
    splits("36 rows: two full tiles, and 4 that go alone", 36, COSTS, 2, 4, 152);
    splits("37 rows: two full tiles, and one for 5", 37, COSTS, 3, 0, 157);
}

#[test]
fn a_tile_may_never_pay() {
    let slow = Costs { tile: 1000, lay_out: 1, row: 10 };
    splits("a full tile costs 1016, and 16 rows alone 160", 40, slow, 0, 40, 400);
}

#[test]
fn it_is_never_dearer_than_another_way() {
    for tile in [0, 1, 30, 72, 143, 144, 145] {
        for rows in 0..50 {
            let costs = Costs { tile, lay_out: 1, row: 10 };
            let all = |full: u64, last: bool| {
                let laid_out = if last { rows } else { full * ROWS };
                (full + u64::from(last)) * tile + laid_out + (rows - laid_out) * 10
            };
            let ways = [
                all(0, false),
                all(rows / ROWS, false),
                if rows % ROWS > 0 {
                    all(rows / ROWS, true)
                } else {
                    u64::MAX
                },
            ];
            let least = ways.into_iter().min().unwrap_or(0);
            let case = Case::rule("no other split may be cheaper").given("rows", rows);
            let case = case.given("costs", costs);
            let found = split(rows, costs);
            case.given("your split", &found).equal(least, found.cycles);
        }
    }
}
