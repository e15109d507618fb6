use std::ops::Range;

use super::cache_append::{CacheFull, LayerCache};
use crate::support::{Case, allocated_by, device, floats, tensor};

const HEADS: usize = 2;
const HEAD_DIM: usize = 2;

/// Keys and values, each with shape and numbers, or why they were refused.
type Answer = Result<[([usize; 4], Vec<f32>); 2], CacheFull>;

/// The rows of these positions: 100 for the head, 10 for the position, 1 for the place in the
/// row.
fn keys(positions: Range<usize>) -> Vec<f32> {
    let row = |head: usize, position: usize| {
        (0..HEAD_DIM).map(move |i| (100 * (head + 1) + 10 * position + i) as f32)
    };
    let head = |head: usize| positions.clone().flat_map(move |position| row(head, position));
    (0..HEADS).flat_map(head).collect()
}

fn values(positions: Range<usize>) -> Vec<f32> {
    keys(positions).iter().map(|number| -number).collect()
}

fn append(cache: &mut LayerCache, positions: Range<usize>) -> Answer {
    let shape = [1, HEADS, positions.len(), HEAD_DIM];
    let new_keys = tensor(keys(positions.clone()), shape);
    let new_values = tensor(values(positions), shape);
    let (k, v) = cache.append(new_keys, new_values)?;
    Ok([(k.dims(), floats(k)), (v.dims(), floats(v))])
}

fn case(rule: &str, capacity: usize, appends: &[usize]) -> Case {
    Case::rule(rule)
        .given("capacity", capacity)
        .given("the number of positions of each append", appends)
        .given("a number in the keys", "100 for the head, 10 for the position, 1 for its place")
        .given("a number in the values", "the same below zero")
}

/// Appends, one after the other: the ones that fit must return everything up to them, and the others
/// must change nothing.
fn check(rule: &str, capacity: usize, appends: &[usize]) {
    let mut cache = LayerCache::new(HEADS, capacity, HEAD_DIM, &device());
    let mut length = 0;
    for (i, &new) in appends.iter().enumerate() {
        let case = case(rule, capacity, &appends[..=i]);
        let found = append(&mut cache, length..length + new);
        if length + new <= capacity {
            length += new;
            returned(&case, length, found);
        } else {
            let refusal = CacheFull { capacity, length, new };
            case.equal(Err(refusal), found.map(|_| "keys and values"));
        }
        case.equal(("length", length), ("length", cache.length()));
    }
}

/// Shapes come before numbers, and a difference between numbers is named by its index: the whole
/// of two caches is too much to compare by eye.
fn returned(case: &Case, length: usize, found: Answer) {
    let Ok([(keys_shape, found_keys), (values_shape, found_values)]) = found else {
        return case.equal(Ok("keys and values"), found.map(|_| ""));
    };
    let shape = [1, HEADS, length, HEAD_DIM];
    case.equal(("shape of the keys", shape), ("shape of the keys", keys_shape));
    case.equal(("shape of the values", shape), ("shape of the values", values_shape));
    case.close(&keys(0..length), &found_keys, 0.0);
    case.close(&values(0..length), &found_values, 0.0);
}

#[test]
fn what_is_filled_is_returned_and_no_more() {
    check("what is filled is returned; places that hold nothing are left out", 5, &[1]);
    check("what is filled is returned; places that hold nothing are left out", 8, &[3]);
}

#[test]
fn new_rows_come_behind_old_ones() {
    check(
        "the length before the append is the place of the first new position",
        8,
        &[1, 1],
    );
    check(
        "the length before the append is the place of the first new position",
        8,
        &[3, 1, 1],
    );
}

#[test]
fn several_positions_may_come_at_once() {
    check("an append of n positions makes the length greater by n", 12, &[2, 3, 1, 4]);
}

#[test]
fn the_last_place_can_be_filled() {
    check("a cache with room for 4 positions holds 4", 4, &[4]);
    check("a cache with room for 4 positions holds 4", 4, &[3, 1]);
}

#[test]
fn what_does_not_fit_is_refused() {
    check("what does not fit is refused, with the length as it is", 4, &[5]);
    check("what does not fit is refused, with the length as it is", 8, &[6, 3]);
}

#[test]
fn a_refusal_loses_nothing() {
    check("after a refusal everything is as it was before", 8, &[6, 3, 1, 2, 1, 1]);
    check("after a refusal everything is as it was before", 9, &[4, 6, 7, 8, 9, 10, 5]);
}

#[test]
fn an_append_copies_the_new_rows_only() {
    const CAPACITY: usize = 16_384;
    const WIDE: usize = 64;
    let case = Case::rule("an append copies the new positions: the cache itself is not copied")
        .given("heads, capacity, head_dim", [HEADS, CAPACITY, WIDE])
        .given("appends", "half of the capacity at once, then 1 position each time")
        .given("counted", "one of the later ones");
    let mut cache = LayerCache::new(HEADS, CAPACITY, WIDE, &device());
    let mut append = |count: usize| {
        let new = || tensor(vec![1.0; HEADS * count * WIDE], [1, HEADS, count, WIDE]);
        let (keys, values) = (new(), new());
        allocated_by(|| drop(cache.append(keys, values)))
    };
    // Half of the cache is filled, and the first append may set something up.
    append(CAPACITY / 2);
    append(1);
    // The least of several: other tests run next to this one.
    let bytes = (0..4).map(|_| append(1)).min().expect("there are four");
    let whole = HEADS * CAPACITY * WIDE * 4;
    case.holds(
        bytes < whole / 20,
        &format!("memory for a few rows; the keys alone are {whole} bytes"),
        format_args!("{bytes} bytes of memory that an append asked for"),
    );
}
