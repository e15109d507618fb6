use super::block_allocator::BlockAllocator;
use crate::support::{Case, Random};

fn case(rule: &str, blocks: usize, calls: &str) -> Case {
    Case::rule(rule).given("blocks in all", blocks).given("calls", calls)
}

/// Allocates, and checks what must always hold of what comes back.
fn allocate(case: &Case, allocator: &mut BlockAllocator, count: usize) -> Vec<u32> {
    let Some(blocks) = allocator.allocate(count) else {
        case.holds(false, &format!("{count} blocks"), "None");
        return Vec::new();
    };
    let mut different = blocks.clone();
    different.sort_unstable();
    different.dedup();
    case.holds(different.len() == count, &format!("{count} different blocks"), &blocks);
    blocks
}

/// How many owners each block has.
fn owners(allocator: &BlockAllocator, blocks: &[u32]) -> Vec<u32> {
    blocks.iter().map(|&block| allocator.owners(block)).collect()
}

#[test]
fn all_blocks_are_free_at_first() {
    let case = case("no block has an owner at first: (free, owners)", 3, "");
    let allocator = BlockAllocator::new(3);
    case.equal((3, vec![0; 3]), (allocator.free_blocks(), owners(&allocator, &[0, 1, 2])));
}

#[test]
fn a_block_that_is_given_out_has_one_owner() {
    let case = case("an allocated block has one owner: (free, owners)", 3, "allocate(2)");
    let mut allocator = BlockAllocator::new(3);
    let blocks = allocate(&case, &mut allocator, 2);
    case.equal((1, vec![1, 1]), (allocator.free_blocks(), owners(&allocator, &blocks)));
    case.holds(blocks.iter().all(|&block| block < 3), "ids from 0 to 2", &blocks);
    let rule = "a block is given out once: all that are out differ";
    let case = self::case(rule, 3, "allocate(2), allocate(1)");
    let mut all = [blocks, allocate(&case, &mut allocator, 1)].concat();
    all.sort_unstable();
    case.equal(vec![0, 1, 2], all);
}

#[test]
fn the_last_block_can_be_had() {
    let case = case("as many as are free can be had: blocks still free", 3, "allocate(3)");
    let mut allocator = BlockAllocator::new(3);
    allocate(&case, &mut allocator, 3);
    case.equal(0, allocator.free_blocks());
    let case = self::case("no block is wanted: that succeeds", 3, "allocate(3), allocate(0)");
    case.equal(Some(vec![]), allocator.allocate(0));
}

#[test]
fn all_or_none() {
    let rule = "if fewer are free than wanted there are none";
    let case = case(rule, 3, "allocate(1), allocate(3)");
    let mut allocator = BlockAllocator::new(3);
    let first = allocate(&case, &mut allocator, 1);
    case.equal(None, allocator.allocate(3));
    let case = self::case("nothing has changed if there were none: (free, owners)", 3, "the same");
    let mut all = owners(&allocator, &[0, 1, 2]);
    all.sort_unstable();
    case.equal((2, vec![0, 0, 1]), (allocator.free_blocks(), all));
    let case = self::case("what is free can still be had", 3, "the same, then allocate(2)");
    let mut all = [first, allocate(&case, &mut allocator, 2)].concat();
    all.sort_unstable();
    case.equal(vec![0, 1, 2], all);
    let case = self::case("however many are wanted", 3, "allocate(usize::MAX)");
    case.equal(None, BlockAllocator::new(3).allocate(usize::MAX));
}

#[test]
fn a_block_is_free_when_its_last_owner_leaves() {
    let rule = "a shared block has more owners, and each that leaves is one fewer: (free, owners)";
    let mut calls = "allocate(1)".to_owned();
    let mut allocator = BlockAllocator::new(2);
    let block = allocate(&case(rule, 2, &calls), &mut allocator, 1);
    for count in 2..=4 {
        calls += ", share";
        let case = case(rule, 2, &calls);
        allocator.share(&block);
        case.equal((1, vec![count]), (allocator.free_blocks(), owners(&allocator, &block)));
    }
    for (count, free) in [(3, 1), (2, 1), (1, 1), (0, 2)] {
        calls += ", release";
        let case = case(rule, 2, &calls);
        allocator.release(&block);
        case.equal((free, vec![count]), (allocator.free_blocks(), owners(&allocator, &block)));
    }
}

#[test]
fn each_block_of_a_list_is_counted_by_itself() {
    let rule = "each block of a list is free, or not, by its own owners: (free, owners)";
    let case = case(rule, 3, "allocate(3) -> a b c, share(b), release(a b c)");
    let mut allocator = BlockAllocator::new(3);
    let blocks = allocate(&case, &mut allocator, 3);
    allocator.share(&blocks[1..2]);
    allocator.release(&blocks);
    case.equal((2, vec![0, 1, 0]), (allocator.free_blocks(), owners(&allocator, &blocks)));
    let rule = "a block that is named twice is shared twice: (free, owners)";
    let case = self::case(rule, 3, "allocate(1) -> a, share(a a), release(a a)");
    let mut allocator = BlockAllocator::new(3);
    let block = allocate(&case, &mut allocator, 1)[0];
    allocator.share(&[block, block]);
    case.equal((2, 3), (allocator.free_blocks(), allocator.owners(block)));
    allocator.release(&[block, block]);
    case.equal((2, 1), (allocator.free_blocks(), allocator.owners(block)));
    allocator.share(&[block]);
    let rule = "a block loses its last two owners at once, and is free once: (free, owners)";
    let case = self::case(rule, 3, "the same, then share(a), release(a a)");
    allocator.release(&[block, block]);
    case.equal((3, 0), (allocator.free_blocks(), allocator.owners(block)));
    allocate(&case, &mut allocator, 3);
    allocator.release(&[0, 1, 2]);
    let block = allocate(&case, &mut allocator, 1)[0];
    let case = self::case("no block, no change: (free, owners)", 3, "share(), release()");
    allocator.share(&[]);
    allocator.release(&[]);
    case.equal((2, 1), (allocator.free_blocks(), allocator.owners(block)));
}

#[test]
fn a_block_that_is_free_again_begins_anew() {
    let rule = "a block that is given out again has one owner: (free, owners)";
    let case = case(rule, 1, "allocate(1), share, release, release, and that three times");
    let mut allocator = BlockAllocator::new(1);
    for _ in 0..3 {
        let block = allocate(&case, &mut allocator, 1);
        case.equal((0, vec![1]), (allocator.free_blocks(), owners(&allocator, &block)));
        case.equal(None, allocator.allocate(1));
        allocator.share(&block);
        allocator.release(&block);
        allocator.release(&block);
        case.equal((1, vec![0]), (allocator.free_blocks(), owners(&allocator, &block)));
    }
}

#[test]
fn no_block_is_lost_and_none_has_two_tables_by_accident() {
    let mut random = Random::new(10);
    for round in 0..20 {
        let total = 1 + random.below(12);
        let case = Case::rule("a block has as many owners as there are tables that hold it")
            .given("blocks in all", total)
            .given("calls", format!("100 at random, round {round}"));
        let mut allocator = BlockAllocator::new(total);
        let mut tables: Vec<Vec<u32>> = Vec::new();
        for _ in 0..100 {
            match random.below(3) {
                0 => {
                    let wanted = random.below(4);
                    let free = allocator.free_blocks();
                    match allocator.allocate(wanted) {
                        Some(table) => tables.push(table),
                        None => case.holds(wanted > free, &format!("{wanted} blocks"), "None"),
                    }
                }
                1 if !tables.is_empty() => {
                    let table = tables[random.below(tables.len())].clone();
                    allocator.share(&table);
                    tables.push(table);
                }
                2 if !tables.is_empty() => {
                    let table = tables.swap_remove(random.below(tables.len()));
                    allocator.release(&table);
                }
                _ => {}
            }
            let holders =
                |block: u32| tables.iter().flatten().filter(|&&held| held == block).count();
            let expected: Vec<u32> = (0..total as u32).map(|block| holders(block) as u32).collect();
            let found: Vec<u32> = (0..total as u32).map(|block| allocator.owners(block)).collect();
            let free = expected.iter().filter(|&&owners| owners == 0).count();
            case.equal(("owners", expected), ("owners", found));
            case.equal(("free", free), ("free", allocator.free_blocks()));
        }
    }
}

#[test]
fn many_blocks_and_many_owners() {
    let rule = "a list may be long, and a block may have many owners: (free, owners of the first)";
    let case = case(rule, 400, "allocate(300) -> all, share(all) 299 times");
    let mut allocator = BlockAllocator::new(400);
    let all = allocate(&case, &mut allocator, 300);
    for _ in 0..299 {
        allocator.share(&all);
    }
    case.equal((100, 300), (allocator.free_blocks(), allocator.owners(all[0])));
    let case = self::case(rule, 400, "the same, then release(all) 299 times");
    for _ in 0..299 {
        allocator.release(&all);
    }
    case.equal((100, 1), (allocator.free_blocks(), allocator.owners(all[0])));
    let case = self::case(rule, 400, "the same, then release(all)");
    allocator.release(&all);
    case.equal((400, 0), (allocator.free_blocks(), allocator.owners(all[0])));
}
