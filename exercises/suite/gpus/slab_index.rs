use super::slab_index::{BLOCK, Part, Rows, Shape, Table, append, index, places};
use crate::support::Case;

const SHAPE: Shape = Shape { n_kv_heads: 3, head_dim: 5 };
const UNTOUCHED: f32 = -1.0;

fn table(slots: &[u32], first_block: usize) -> Table {
    Table { slots: slots.to_vec(), first_block }
}

fn rows(slots: &[u32], first_block: usize, start: usize, count: usize) -> Rows {
    Rows { table: table(slots, first_block), start, count }
}

/// How many numbers a slot has.
fn size(shape: Shape) -> usize {
    2 * shape.n_kv_heads * BLOCK * shape.head_dim
}

/// All numbers of a slot, in the order in which they lie: (part, head, position in the block, i).
fn slot(shape: Shape) -> Vec<(Part, usize, usize, usize)> {
    let mut numbers = Vec::new();
    for head in 0..shape.n_kv_heads {
        for i in 0..shape.head_dim {
            numbers.extend((0..BLOCK).map(|position| (Part::Keys, head, position, i)));
        }
    }
    for head in 0..shape.n_kv_heads {
        for position in 0..BLOCK {
            numbers.extend((0..shape.head_dim).map(|i| (Part::Values, head, position, i)));
        }
    }
    numbers
}

#[test]
fn a_worked_example() {
    let (shape, table) = (Shape { n_kv_heads: 1, head_dim: 2 }, table(&[5, 3], 0));
    for (part, position, i, expected) in [
        (Part::Keys, 6, 1, 54),
        (Part::Values, 6, 1, 61),
        (Part::Keys, 0, 0, 80),
        (Part::Values, 0, 0, 88),
        (Part::Keys, 3, 0, 83),
        (Part::Values, 3, 1, 95),
    ] {
        let case =
            Case::rule("slot, part, then keys `[head_dim][BLOCK]`, values `[BLOCK][head_dim]`")
                .given("shape", shape)
                .given("table", &table)
                .given("part", part)
                .given("position", position)
                .given("i", i);
        case.equal(Some(expected), index(shape, &table, part, 0, position, i));
    }
}

#[test]
fn every_number_of_a_slot_has_its_index() {
    for shape in [
        SHAPE,
        Shape { n_kv_heads: 1, head_dim: 1 },
        Shape { n_kv_heads: 2, head_dim: 4 },
    ] {
        let table = table(&[7, 0, 2], 0);
        for (block, first) in [(0, 7), (1, 0), (2, 2)] {
            for (number, (part, head, within, i)) in slot(shape).into_iter().enumerate() {
                let position = block * BLOCK + within;
                let case = Case::rule("a slot has the keys of all heads, and then the values of all heads; the table tells the slot of a position")
                    .given("shape", shape)
                    .given("table", &table)
                    .given("part", part)
                    .given("head", head)
                    .given("position", position)
                    .given("i", i);
                let expected = first * size(shape) + number;
                case.equal(Some(expected), index(shape, &table, part, head, position, i));
            }
        }
    }
}

#[test]
fn a_table_may_begin_later() {
    let table = table(&[4, 1], 3);
    for (position, expected) in [
        (12, Some(4 * size(SHAPE))),
        (15, Some(4 * size(SHAPE) + 3)),
        (16, Some(size(SHAPE))),
        (11, None),
        (0, None),
        (3, None),
        (20, None),
    ] {
        let case = Case::rule(
            "the table begins with `first_block`; before it, and after its end, is nothing",
        )
        .given("table", &table)
        .given("position", position);
        case.equal(expected, index(SHAPE, &table, Part::Keys, 0, position, 0));
    }
}

#[test]
fn a_slab_may_be_large() {
    let table = table(&[1 << 29], 0);
    let case = Case::rule("a slab may have more numbers than 32 bits count")
        .given("shape", SHAPE)
        .given("table", &table);
    let expected = (1_usize << 29) * size(SHAPE);
    case.equal(Some(expected), index(SHAPE, &table, Part::Keys, 0, 0, 0));
}

#[test]
fn places_of_all_rows_of_a_pass() {
    for (sequences, expected) in [
        (vec![rows(&[5, 3], 0, 6, 1)], Some(vec![14])),
        (vec![rows(&[5, 3], 0, 2, 4)], Some(vec![22, 23, 12, 13])),
        (
            vec![
                rows(&[2], 0, 0, 2),
                rows(&[0, 9], 0, 7, 1),
                rows(&[1], 2, 9, 3),
            ],
            Some(vec![8, 9, 39, 5, 6, 7]),
        ),
        (vec![], Some(vec![])),
        (vec![rows(&[2], 0, 4, 0)], Some(vec![])),
        (vec![rows(&[2], 0, 3, 2)], None),
        (vec![rows(&[1], 0, 0, 1), rows(&[2], 1, 3, 1)], None),
        (vec![rows(&[], 0, 0, 1), rows(&[2], 0, 0, 1)], None),
    ] {
        let case = Case::rule(
            "`BLOCK` times the slot, and the position in the block; sequence after sequence",
        )
        .given("sequences", &sequences);
        case.equal(expected, places(&sequences));
    }
}

/// Keys from 100 upwards, values from 500 upwards.
fn numbers(count: usize, first: usize) -> Vec<f32> {
    (first..first + count).map(|number| number as f32).collect()
}

#[test]
fn a_unit_writes_one_key_and_one_value() {
    let count = 2 * SHAPE.n_kv_heads * SHAPE.head_dim;
    let (keys, values) = (numbers(count, 100), numbers(count, 500));
    // The second row has the place 2 of slot 1.
    let places = [11, 6];
    for (unit, key, value) in [
        (0, 2 * 120 + 3, 2 * 120 + 60 + 3 * 5),
        (9, 2 * 120 + 20 + 4 * 4 + 3, 2 * 120 + 60 + 20 + 3 * 5 + 4),
        (29, 120 + 40 + 4 * 4 + 2, 120 + 60 + 40 + 2 * 5 + 4),
    ] {
        let case = Case::rule("(index, number) of all that the unit has written")
            .given("shape", SHAPE)
            .given("places", places)
            .given("unit", unit);
        let mut slab = vec![UNTOUCHED; 3 * size(SHAPE)];
        append(unit, SHAPE, &keys, &values, &places, &mut slab);
        let written: Vec<(usize, f32)> =
            slab.into_iter().enumerate().filter(|(_, number)| *number != UNTOUCHED).collect();
        case.equal(vec![(key, keys[unit]), (value, values[unit])], written);
    }
}

#[test]
fn units_that_are_left_over_write_nothing() {
    let count = SHAPE.n_kv_heads * SHAPE.head_dim;
    let (keys, values) = (numbers(count, 100), numbers(count, 500));
    for unit in [count, count + 1, 63, 1000] {
        let case = Case::rule("there may be more units than numbers").given("unit", unit);
        let mut slab = vec![UNTOUCHED; size(SHAPE)];
        append(unit, SHAPE, &keys, &values, &[0], &mut slab);
        case.equal(true, slab.iter().all(|number| *number == UNTOUCHED));
    }
}

#[test]
fn what_was_appended_is_found_again() {
    let sequences = [
        rows(&[3, 0], 0, 2, 4),
        rows(&[1], 5, 21, 1),
        rows(&[4], 0, 0, 3),
    ];
    let per_row = SHAPE.n_kv_heads * SHAPE.head_dim;
    let case = Case::rule("a key and a value are read where they were written")
        .given("sequences", &sequences);
    let places = places(&sequences).unwrap_or_default();
    case.equal(8, places.len());
    let (keys, values) = (numbers(8 * per_row, 100), numbers(8 * per_row, 500));
    let mut slab = vec![UNTOUCHED; 5 * size(SHAPE)];
    for unit in (0..8 * per_row + 5).rev() {
        append(unit, SHAPE, &keys, &values, &places, &mut slab);
    }
    let mut row = 0;
    for sequence in &sequences {
        for position in sequence.start..sequence.start + sequence.count {
            for (head, i) in [(0, 0), (2, 4), (1, 3)] {
                let of = |part| index(SHAPE, &sequence.table, part, head, position, i);
                let number = (row * per_row + head * SHAPE.head_dim + i) as f32;
                let found = [Part::Keys, Part::Values].map(|part| of(part).map(|at| slab[at]));
                case.equal([Some(100.0 + number), Some(500.0 + number)], found);
            }
            row += 1;
        }
    }
    let written = slab.iter().filter(|number| **number != UNTOUCHED).count();
    case.equal(2 * 8 * per_row, written);
}
