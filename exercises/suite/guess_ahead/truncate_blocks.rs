use super::truncate_blocks::{Block, Pool, Table, truncate_blocks};
use crate::support::{Case, Random};

/// (owners, filled)
type Short = (u32, usize);

fn pool(block_size: usize, blocks: &[Short]) -> Pool {
    let blocks = blocks.iter().map(|&(owners, filled)| Block { owners, filled }).collect();
    Pool { block_size, blocks }
}

fn table(blocks: &[usize], length: usize) -> Table {
    Table { blocks: blocks.to_vec(), length }
}

/// One call. `expected`: the blocks that are free now, the table, and the blocks of the pool.
fn check(
    rule: &str,
    (pool, table): (&Pool, &Table),
    length: usize,
    expected: (&[usize], &Table, &[Short]),
) {
    let case = Case::rule(rule).given("pool", pool).given("table", table).given("length", length);
    let (mut pool_now, mut table_now) = (pool.clone(), table.clone());
    let freed = truncate_blocks(&mut pool_now, &mut table_now, length);
    case.equal(("free now", expected.0), ("free now", freed.as_slice()));
    case.equal(expected.1, &table_now);
    case.equal(&self::pool(pool.block_size, expected.2), &pool_now);
}

#[test]
fn the_example_of_the_task() {
    let blocks = |two, five| [(0, 0), (0, 0), two, (0, 0), (0, 0), five, (0, 0), (2, 4)];
    let rule = "the example above the function: blocks behind the length are given up, and free without another owner; a shared block is not written";
    let before = (&pool(4, &blocks((1, 4), (1, 1))), &table(&[7, 2, 5], 9));
    let after = blocks((1, 2), (0, 0));
    check(rule, before, 6, (&[5], &table(&[7, 2], 6), &after));
    let before = (&pool(4, &after), &table(&[7, 2], 6));
    check(rule, before, 3, (&[2], &table(&[7], 3), &blocks((0, 0), (0, 0))));
}

#[test]
fn within_a_block_nothing_is_given_back() {
    let rule = "the table keeps as many blocks as the length takes";
    let before = (&pool(32, &[(1, 32), (1, 9)]), &table(&[0, 1], 41));
    check(rule, before, 38, (&[], &table(&[0, 1], 38), &[(1, 32), (1, 6)]));
    check(rule, before, 33, (&[], &table(&[0, 1], 33), &[(1, 32), (1, 1)]));
}

#[test]
fn a_block_that_ends_with_the_sequence_is_full() {
    let rule =
        "at the border of a block, the last block that is kept is full, and the next is free";
    let before = (&pool(32, &[(1, 32), (1, 9)]), &table(&[0, 1], 41));
    check(rule, before, 32, (&[1], &table(&[0], 32), &[(1, 32), (0, 0)]));
    let before = (&pool(1, &[(1, 1); 3]), &table(&[2, 0, 1], 3));
    check(rule, before, 2, (&[1], &table(&[2, 0], 2), &[(1, 1), (0, 0), (1, 1)]));
}

#[test]
fn a_run_may_cross_several_blocks() {
    let rule = "each block without another owner is free, in the order of the table";
    let before = (&pool(3, &[(1, 2), (1, 3), (1, 3), (1, 3)]), &table(&[3, 1, 2, 0], 11));
    let after = [(0, 0), (0, 0), (0, 0), (1, 1)];
    check(rule, before, 1, (&[1, 2, 0], &table(&[3], 1), &after));
    let rule = "a sequence of no positions holds no block";
    check(rule, before, 0, (&[3, 1, 2, 0], &table(&[], 0), &[(0, 0); 4]));
}

#[test]
fn a_shared_block_that_is_given_up_loses_an_owner() {
    let rule = "a block that is given up and that others hold loses an owner, and stays as it is";
    let before = (&pool(4, &[(2, 4), (2, 4), (3, 2)]), &table(&[0, 1, 2], 10));
    check(rule, before, 4, (&[], &table(&[0], 4), &[(2, 4), (1, 4), (2, 2)]));
    let rule = "only a block without another owner is free";
    let before = (&pool(4, &[(1, 4), (2, 4), (1, 2)]), &table(&[0, 1, 2], 10));
    check(rule, before, 2, (&[2], &table(&[0], 2), &[(1, 2), (1, 4), (0, 0)]));
}

#[test]
fn a_shared_block_that_is_kept_is_not_written() {
    let rule = "a block that others hold keeps what is filled, and its owners";
    let before = (&pool(4, &[(2, 4), (2, 3)]), &table(&[0, 1], 7));
    check(rule, before, 5, (&[], &table(&[0, 1], 5), &[(2, 4), (2, 3)]));
    check(rule, before, 2, (&[], &table(&[0], 2), &[(2, 4), (1, 3)]));
    let rule = "another owner may have written more of it";
    let before = (&pool(8, &[(2, 6)]), &table(&[0], 4));
    check(rule, before, 3, (&[], &table(&[0], 3), &[(2, 6)]));
}

#[test]
fn nothing_is_rejected() {
    let rule = "if the length is not less, nothing changes";
    let blocks = [(1, 4), (1, 2)];
    let before = (&pool(4, &blocks), &table(&[1, 0], 6));
    for length in [6, 7, 8, 9, usize::MAX] {
        check(rule, before, length, (&[], &table(&[1, 0], 6), &blocks));
    }
    let before = (&pool(4, &blocks), &table(&[], 0));
    check(rule, before, 0, (&[], &table(&[], 0), &blocks));
    let rule = "if the length is not less, nothing changes, even if more of a block is filled";
    let before = (&pool(8, &[(1, 6)]), &table(&[0], 4));
    check(rule, before, 4, (&[], &table(&[0], 4), &[(1, 6)]));
}

/// Some sequences, the first of which shares its beginning with the others.
fn sequences(random: &mut Random) -> (Pool, Vec<Table>) {
    let block_size = 1 + random.below(5);
    let mut blocks = Vec::new();
    let mut tables: Vec<Table> = Vec::new();
    for _ in 0..1 + random.below(3) {
        let common = tables.first().map_or(0, |first| random.below(first.length + 1));
        // Whole blocks are shared, or all of what is common.
        let whole = random.below(2) == 0;
        let shared = if whole {
            common / block_size
        } else {
            common.div_ceil(block_size)
        };
        let length = if whole {
            shared * block_size + random.below(12)
        } else {
            common
        };
        let mut ids: Vec<usize> = tables.first().map_or(&[][..], |t| &t.blocks[..shared]).to_vec();
        for &id in &ids {
            let block: &mut Block = &mut blocks[id];
            block.owners += 1;
        }
        for place in shared..length.div_ceil(block_size) {
            ids.push(blocks.len());
            blocks.push(Block {
                owners: 1,
                filled: block_size.min(length - place * block_size),
            });
        }
        tables.push(Table { blocks: ids, length });
    }
    (Pool { block_size, blocks }, tables)
}

#[test]
fn what_others_read_is_there() {
    let mut random = Random::new(41);
    for _ in 0..500 {
        let (mut pool, mut tables) = sequences(&mut random);
        for _ in 0..4 {
            let which = random.below(tables.len());
            let length = random.below(tables[which].length + 2);
            let case = Case::rule("sequences that share blocks, one of which is truncated")
                .given("pool", &pool)
                .given("tables", &tables)
                .given("truncated is table", which)
                .given("length", length);
            let before = pool.blocks.clone();
            let freed = truncate_blocks(&mut pool, &mut tables[which], length);
            for (id, block) in pool.blocks.iter().enumerate() {
                let held = tables.iter().filter(|table| table.blocks.contains(&id)).count() as u32;
                let what = format!("owners of block {id}");
                case.equal((&what, held), (&what, block.owners));
                let what = format!("block {id} is free now");
                let free_now = held == 0 && before[id].owners > 0;
                case.equal((&what, free_now), (&what, freed.contains(&id)));
            }
            for table in &tables {
                case.equal(
                    ("blocks of a table", table.length.div_ceil(pool.block_size)),
                    ("blocks of a table", table.blocks.len()),
                );
                for (place, &id) in table.blocks.iter().enumerate() {
                    let needed = pool.block_size.min(table.length - place * pool.block_size);
                    let filled = pool.blocks[id].filled;
                    let expected = format!("at least {needed} filled in block {id}");
                    case.holds(filled >= needed, &expected, filled);
                }
            }
        }
    }
}
