use super::shared_block::{Pool, Table};
use crate::support::{Case, Random};

fn case(rule: &str, blocks: usize, calls: &str) -> Case {
    Case::rule(rule)
        .given("blocks in all", blocks)
        .given("positions of a block", 4)
        .given("calls", calls)
}

fn append_all(case: &Case, pool: &mut Pool, table: &mut Table, tokens: &[u32]) {
    for &token in tokens {
        case.holds(pool.append(table, token), "append returns true: a block is free", "false");
    }
}

#[test]
fn the_example_of_the_task() {
    let calls = "A reads 1 2 3 4 5, B = fork(A), B reads 6, release(B)";
    let case = case("the example above the function: free blocks after each call", 3, calls);
    let mut pool = Pool::new(3);
    let mut a = pool.start();
    append_all(&case, &mut pool, &mut a, &[1, 2, 3, 4, 5]);
    let mut free = vec![pool.free_blocks()];
    let mut b = pool.fork(&a);
    free.push(pool.free_blocks());
    append_all(&case, &mut pool, &mut b, &[6]);
    free.push(pool.free_blocks());
    pool.release(b);
    free.push(pool.free_blocks());
    case.equal(vec![1, 1, 0, 1], free);
}

#[test]
fn a_new_request_does_not_write_into_a_block_that_is_held() {
    let calls = "A reads 1 to 6, B = fork(A), B reads 7, release(B), C reads 90 to 97";
    let case = case("A still reads its own tokens", 5, calls);
    let mut pool = Pool::new(5);
    let mut a = pool.start();
    append_all(&case, &mut pool, &mut a, &[1, 2, 3, 4, 5, 6]);
    let mut b = pool.fork(&a);
    append_all(&case, &mut pool, &mut b, &[7]);
    pool.release(b);
    let mut c = pool.start();
    append_all(&case, &mut pool, &mut c, &[90, 91, 92, 93, 94, 95, 96, 97]);
    case.equal(vec![1, 2, 3, 4, 5, 6], pool.read(&a));
    append_all(&case, &mut pool, &mut a, &[8]);
    case.equal(vec![1, 2, 3, 4, 5, 6, 8], pool.read(&a));
    case.equal((90..98).collect::<Vec<u32>>(), pool.read(&c));
}

#[test]
fn it_does_not_matter_which_one_ends() {
    let calls = "A reads 1 to 5, B = fork(A), both read one more, release(A), C reads 90 to 94";
    let case = case("B still reads its own tokens", 5, calls);
    let mut pool = Pool::new(5);
    let mut a = pool.start();
    append_all(&case, &mut pool, &mut a, &[1, 2, 3, 4, 5]);
    let mut b = pool.fork(&a);
    append_all(&case, &mut pool, &mut b, &[6]);
    append_all(&case, &mut pool, &mut a, &[7]);
    pool.release(a);
    let mut c = pool.start();
    append_all(&case, &mut pool, &mut c, &[90, 91, 92, 93, 94]);
    case.equal(vec![1, 2, 3, 4, 5, 6], pool.read(&b));
}

#[test]
fn a_block_of_its_own_is_free_again() {
    let rule = "a block without another owner is free when its sequence ends: free blocks";
    let calls = "A reads 1 to 4, B = fork(A), B reads 5 to 12, release(B)";
    let case = case(rule, 4, calls);
    let mut pool = Pool::new(4);
    let mut a = pool.start();
    append_all(&case, &mut pool, &mut a, &[1, 2, 3, 4]);
    let mut b = pool.fork(&a);
    append_all(&case, &mut pool, &mut b, &[5, 6, 7, 8, 9, 10, 11, 12]);
    pool.release(b);
    case.equal(3, pool.free_blocks());
    let case = self::case(rule, 4, &format!("{calls}, release(A)"));
    pool.release(a);
    case.equal(4, pool.free_blocks());
    let case = self::case(rule, 3, "A reads 1 to 9, release(A)");
    let mut pool = Pool::new(3);
    let mut a = pool.start();
    append_all(&case, &mut pool, &mut a, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    pool.release(a);
    case.equal(3, pool.free_blocks());
}

#[test]
fn a_fork_that_wrote_nothing_leaves_nothing() {
    let rule = "a fork that wrote nothing held no block alone: free blocks";
    let case = case(rule, 3, "A reads 1 to 6, B = fork(A), release(B)");
    let mut pool = Pool::new(3);
    let mut a = pool.start();
    append_all(&case, &mut pool, &mut a, &[1, 2, 3, 4, 5, 6]);
    let b = pool.fork(&a);
    pool.release(b);
    case.equal(1, pool.free_blocks());
    let case = self::case("a sequence without tokens holds no block: free blocks", 3, "release(C)");
    let c = pool.start();
    pool.release(c);
    case.equal(1, pool.free_blocks());
}

#[test]
fn sharing_costs_no_block() {
    let rule = "a fork shares its blocks, and copies one when it writes: free blocks";
    let case = case(rule, 8, "A reads 1 to 10, B = fork(A), C = fork(A), both read 11");
    let mut pool = Pool::new(8);
    let mut a = pool.start();
    append_all(&case, &mut pool, &mut a, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let (mut b, mut c) = (pool.fork(&a), pool.fork(&a));
    case.equal(5, pool.free_blocks());
    append_all(&case, &mut pool, &mut b, &[11]);
    append_all(&case, &mut pool, &mut c, &[11]);
    case.equal(3, pool.free_blocks());
}

#[test]
fn three_that_share_a_prompt() {
    let calls =
        "A reads 1 to 5, B and C fork it and read 6, release(B), release(A), D reads 90 to 97";
    let case = case("C still reads its own tokens", 6, calls);
    let mut pool = Pool::new(6);
    let mut a = pool.start();
    append_all(&case, &mut pool, &mut a, &[1, 2, 3, 4, 5]);
    let (mut b, mut c) = (pool.fork(&a), pool.fork(&a));
    append_all(&case, &mut pool, &mut b, &[6]);
    append_all(&case, &mut pool, &mut c, &[6]);
    pool.release(b);
    pool.release(a);
    case.equal(("free", 4), ("free", pool.free_blocks()));
    let mut d = pool.start();
    append_all(&case, &mut pool, &mut d, &[90, 91, 92, 93, 94, 95, 96, 97]);
    case.equal(vec![1, 2, 3, 4, 5, 6], pool.read(&c));
    pool.release(c);
    pool.release(d);
    case.equal(("free", 6), ("free", pool.free_blocks()));
}

#[test]
fn no_block_is_lost_and_none_is_free_twice() {
    let mut random = Random::new(10);
    for round in 0..20 {
        let case = case(
            "each sequence reads its own tokens, and in the end all blocks are free",
            16,
            &format!("200 at random, round {round}"),
        );
        let mut pool = Pool::new(16);
        let mut sequences: Vec<(Table, Vec<u32>)> = Vec::new();
        for token in 0..200 {
            match random.below(6) {
                0 => sequences.push((pool.start(), Vec::new())),
                1 if !sequences.is_empty() => {
                    let (table, said) = &sequences[random.below(sequences.len())];
                    let copy = (pool.fork(table), said.clone());
                    sequences.push(copy);
                }
                2 if !sequences.is_empty() => {
                    let (table, _) = sequences.swap_remove(random.below(sequences.len()));
                    pool.release(table);
                }
                _ if !sequences.is_empty() => {
                    let at = random.below(sequences.len());
                    let (table, said) = &mut sequences[at];
                    if pool.append(table, token) {
                        said.push(token);
                    } else {
                        case.equal(("free", 0), ("free", pool.free_blocks()));
                    }
                }
                _ => {}
            }
            for (table, said) in &sequences {
                case.equal(said.clone(), pool.read(table));
            }
        }
        for (table, _) in sequences {
            pool.release(table);
        }
        case.equal(("free", 16), ("free", pool.free_blocks()));
    }
}
