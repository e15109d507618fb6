use super::block_table::{BlockTable, Place, look_up};
use crate::support::{Case, Random};

/// (block, offset)
type Short = Option<(u32, usize)>;

fn check(
    rule: &str,
    (blocks, length): (&[u32], usize),
    block_size: usize,
    positions: &[usize],
    expected: &[Short],
) {
    let case = Case::rule(format!("{rule}: (block, offset)"))
        .given("blocks", blocks)
        .given("length", length)
        .given("block_size", block_size)
        .given("positions", positions);
    let table = BlockTable { blocks: blocks.to_vec(), length };
    let found: Vec<Short> = look_up(&table, block_size, positions)
        .into_iter()
        .map(|place| place.map(|Place { block, offset }| (block, offset)))
        .collect();
    case.equal(expected.to_vec(), found);
}

#[test]
fn the_example_of_the_task() {
    let expected = [Some((2, 1)), Some((7, 0)), Some((5, 0)), None];
    check(
        "the example above the function: the entry is the position divided by the block size, the offset is the remainder, and the table names the block",
        (&[7, 2, 5], 9),
        4,
        &[5, 0, 8, 9],
        &expected,
    );
}

#[test]
fn positions_of_a_block_lie_at_its_offsets() {
    let rule = "a block holds positions that follow each other";
    let expected = [0, 1, 2, 3].map(|offset| Some((6, offset)));
    check(rule, (&[6], 4), 4, &[0, 1, 2, 3], &expected);
    let rule = "the table tells which block holds the next positions, whatever its id is";
    let expected = [Some((9, 2)), Some((0, 0)), Some((0, 2)), Some((4, 0))];
    check(rule, (&[9, 0, 4], 8), 3, &[2, 3, 5, 6], &expected);
}

#[test]
fn a_position_that_is_not_written_has_no_place() {
    let rule = "the length tells what is written; the position after the last one is not";
    check(rule, (&[3, 8], 5), 4, &[4, 5], &[Some((8, 0)), None]);
    let rule = "a reserved block holds nothing yet";
    check(rule, (&[3, 8, 1], 4), 4, &[3, 4, 8, 11], &[Some((3, 3)), None, None, None]);
    check(rule, (&[3], 0), 4, &[0], &[None]);
    let rule = "a position may be any usize";
    check(rule, (&[3, 8], 8), 4, &[8, 1000, usize::MAX], &[None; 3]);
    let rule = "a position is a usize, and a u32 would make 0 of 2^32";
    check(rule, (&[3, 8], 8), 4, &[1 << 32, (1 << 32) + 5], &[None; 2]);
    check("an empty sequence has no positions", (&[], 0), 4, &[0, 5], &[None; 2]);
}

#[test]
fn every_position_has_its_entry() {
    let rule = "one entry for each of `positions`, in their order";
    let expected = [Some((8, 1)), None, Some((3, 0)), Some((8, 1)), None];
    check(rule, (&[3, 8], 6), 4, &[5, 6, 0, 5, 7], &expected);
    check(rule, (&[3, 8], 6), 4, &[], &[]);
}

#[test]
fn blocks_may_be_of_any_size() {
    let rule = "a block size doesn't have to be a power of two";
    let expected = [Some((7, 4)), Some((2, 0)), Some((2, 4)), Some((5, 0))];
    check(rule, (&[7, 2, 5], 11), 5, &[4, 5, 9, 10], &expected);
    let rule = "blocks of one position";
    check(
        rule,
        (&[7, 2, 5], 3),
        1,
        &[0, 1, 2],
        &[Some((7, 0)), Some((2, 0)), Some((5, 0))],
    );
    let rule = "blocks of many positions";
    let expected = [Some((7, 255)), Some((7, 256)), Some((7, 999)), Some((2, 0))];
    check(rule, (&[7, 2], 1001), 1000, &[255, 256, 999, 1000], &expected);
    let rule = "a block may be larger than the sequence";
    check(rule, (&[7], 3), usize::MAX, &[0, 2, 3], &[Some((7, 0)), Some((7, 2)), None]);
}

#[test]
fn each_written_position_has_a_place_of_its_own() {
    let mut random = Random::new(10);
    for block_size in 1..9 {
        let mut blocks: Vec<u32> = (0..12).collect();
        for i in (1..blocks.len()).rev() {
            blocks.swap(i, random.below(i + 1));
        }
        let length = random.below(12 * block_size + 1);
        let all =
            blocks.iter().flat_map(|&block| (0..block_size).map(move |offset| (block, offset)));
        let expected: Vec<Short> =
            all.enumerate().map(|(p, at)| (p < length).then_some(at)).collect();
        let positions: Vec<usize> = (0..12 * block_size).collect();
        let rule = "position after position, offset after offset, block after block";
        check(rule, (&blocks, length), block_size, &positions, &expected);
    }
}

#[test]
fn limit_ids_may_be_however_great() {
    let rule = "an id is a number like any other";
    let blocks = [u32::MAX, 70_000, 300];
    let expected = [Some((u32::MAX, 1)), Some((70_000, 1)), Some((300, 1))];
    check(rule, (&blocks, 6), 2, &[1, 3, 5], &expected);
}
