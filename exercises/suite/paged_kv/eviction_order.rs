use std::fmt::{Debug, Formatter};

use super::eviction_order::PrefixCache;
use crate::support::{Case, Random};

#[derive(Clone, PartialEq)]
enum Call {
    Acquire(Vec<u32>),
    Release(Vec<u32>),
    /// What has to come back.
    Evict(Option<u32>),
}

use Call::{Acquire, Evict, Release};

/// As in the task, and what must come back of `evict` is not shown.
impl Debug for Call {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Acquire(blocks) => write!(formatter, "acquire {blocks:?}"),
            Release(blocks) => write!(formatter, "release {blocks:?}"),
            Evict(_) => formatter.write_str("evict"),
        }
    }
}

fn check(rule: &str, calls: &[Call]) {
    let case = Case::rule(format!("{rule}: what evict returns")).given("calls", calls);
    let mut cache = PrefixCache::new();
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    for call in calls {
        match call {
            Acquire(blocks) => cache.acquire(blocks),
            Release(blocks) => cache.release(blocks),
            Evict(block) => {
                expected.push(*block);
                found.push(cache.evict());
            }
        }
    }
    case.equal(expected, found);
}

fn acquire(blocks: &[u32]) -> Call {
    Acquire(blocks.to_vec())
}

fn release(blocks: &[u32]) -> Call {
    Release(blocks.to_vec())
}

fn evict(block: u32) -> Call {
    Evict(Some(block))
}

#[test]
fn the_example_of_the_task() {
    check(
        "the example above the function: the least recently used first, the tail of a table before its head, and no block with an owner",
        &[
            acquire(&[1, 2, 3]),
            acquire(&[1, 4]),
            release(&[1, 2, 3]),
            release(&[1, 4]),
            acquire(&[1, 2]),
            evict(3),
            evict(4),
            Evict(None),
        ],
    );
}

#[test]
fn the_tail_of_a_table_goes_before_its_head() {
    let rule = "of blocks that become idle together, the last of the table goes first";
    let calls = [
        acquire(&[5, 9, 2]),
        release(&[5, 9, 2]),
        evict(2),
        evict(9),
        evict(5),
        Evict(None),
    ];
    check(rule, &calls);
}

#[test]
fn the_block_that_became_idle_first_goes_first() {
    let rule =
        "the least recently used goes first, whatever its id is and whenever it was acquired";
    for blocks in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
        let [a, b, c] = blocks;
        check(
            rule,
            &[
                acquire(&[c]),
                acquire(&[a]),
                acquire(&[b]),
                release(&[a]),
                release(&[b]),
                release(&[c]),
                evict(a),
                evict(b),
                evict(c),
            ],
        );
    }
}

#[test]
fn a_block_with_an_owner_is_never_evicted() {
    let rule = "a block with an owner is not evicted";
    check(rule, &[Evict(None), acquire(&[1, 2]), Evict(None)]);
    let rule = "a shared block becomes idle when its last owner leaves";
    check(
        rule,
        &[
            acquire(&[1]),
            acquire(&[1]),
            acquire(&[1]),
            release(&[1]),
            Evict(None),
            release(&[1]),
            Evict(None),
            release(&[1]),
            evict(1),
        ],
    );
    let rule = "an idle block that is acquired again is idle no more";
    check(rule, &[acquire(&[1]), release(&[1]), acquire(&[1]), Evict(None)]);
}

#[test]
fn each_block_of_a_table_counts_by_itself() {
    let rule = "the blocks without another owner become idle, and the shared ones do not";
    check(
        rule,
        &[
            acquire(&[1, 2, 3]),
            acquire(&[1, 2]),
            release(&[1, 2, 3]),
            evict(3),
            Evict(None),
            release(&[1, 2]),
            evict(2),
            evict(1),
        ],
    );
}

#[test]
fn a_block_that_was_used_again_goes_to_the_end() {
    let rule = "a block that was used again is not the least recently used one";
    check(
        rule,
        &[
            acquire(&[1]),
            release(&[1]),
            acquire(&[2]),
            release(&[2]),
            acquire(&[1]),
            release(&[1]),
            evict(2),
            evict(1),
            Evict(None),
        ],
    );
    let rule = "to acquire a block of the middle leaves the order of the others as it is";
    check(
        rule,
        &[
            acquire(&[1, 2, 3, 4]),
            release(&[1, 2, 3, 4]),
            acquire(&[3]),
            evict(4),
            evict(2),
            release(&[3]),
            evict(1),
            evict(3),
        ],
    );
}

#[test]
fn an_evicted_block_is_gone_and_may_come_back() {
    let rule = "a block is evicted once, and begins anew when it is acquired";
    check(
        rule,
        &[
            acquire(&[1, 2]),
            release(&[1, 2]),
            evict(2),
            acquire(&[2]),
            evict(1),
            Evict(None),
            release(&[2]),
            evict(2),
            Evict(None),
        ],
    );
}

#[test]
fn ids_may_be_however_great() {
    let rule = "an id is a number like any other";
    let blocks = [u32::MAX, 0, 70_000];
    let calls = [
        acquire(&blocks),
        release(&blocks),
        evict(70_000),
        evict(0),
        evict(u32::MAX),
    ];
    check(rule, &calls);
}

#[test]
fn many_sequences_with_a_common_head() {
    let mut random = Random::new(10);
    for round in 0..20 {
        // The model: all idle blocks with the time at which they became idle.
        let mut idle: Vec<(usize, u32)> = Vec::new();
        let mut running: Vec<Vec<u32>> = Vec::new();
        let mut calls = Vec::new();
        for time in 0..40 {
            match random.below(3) {
                0 => {
                    let length = 1 + random.below(3);
                    let tail = 100 * (1 + random.below(3)) as u32;
                    let table: Vec<u32> =
                        (0..length as u32).map(|i| if i == 0 { 7 } else { tail + i }).collect();
                    idle.retain(|(_, block)| !table.contains(block));
                    calls.push(Acquire(table.clone()));
                    running.push(table);
                }
                1 if !running.is_empty() => {
                    let table = running.swap_remove(random.below(running.len()));
                    for (place, block) in table.iter().rev().enumerate() {
                        if !running.iter().any(|other| other.contains(block)) {
                            idle.push((10 * time + place, *block));
                        }
                    }
                    calls.push(Release(table));
                }
                _ => {
                    idle.sort_unstable();
                    let first = (!idle.is_empty()).then(|| idle.remove(0).1);
                    calls.push(Evict(first));
                }
            }
        }
        check(&format!("calls at random, round {round}"), &calls);
    }
}

#[test]
fn many_blocks_may_be_idle() {
    let blocks: Vec<u32> = (0..300).collect();
    let mut calls = vec![Acquire(blocks.clone()), Release(blocks.clone())];
    calls.extend(blocks.iter().rev().map(|&block| evict(block)));
    check("an idle block stays until it is evicted, however many there are", &calls);
}

#[test]
fn many_owners() {
    let case = Case::rule("a block has as many owners as there are sequences: what evict returns")
        .given(
            "calls",
            "acquire [1] 300 times, release [1] 299 times, evict; release [1], evict",
        );
    let mut cache = PrefixCache::new();
    (0..300).for_each(|_| cache.acquire(&[1]));
    (0..299).for_each(|_| cache.release(&[1]));
    let first = cache.evict();
    cache.release(&[1]);
    case.equal([None, Some(1)], [first, cache.evict()]);
}
