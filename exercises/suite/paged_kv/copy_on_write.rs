use super::copy_on_write::{BLOCK_SIZE, Pool, Table, append, fork};
use crate::support::{Case, Random};

const EMPTY: Table = Table { blocks: Vec::new(), length: 0 };

fn pool(blocks: usize) -> Pool {
    Pool {
        contents: vec![['.'; BLOCK_SIZE]; blocks],
        owners: vec![0; blocks],
    }
}

fn text(pool: &Pool, table: &Table) -> String {
    (0..table.length)
        .map(|p| pool.contents[table.blocks[p / BLOCK_SIZE]][p % BLOCK_SIZE])
        .collect()
}

fn free(pool: &Pool) -> usize {
    pool.owners.iter().filter(|&&owners| owners == 0).count()
}

/// A pool of `blocks`, in which the first lie at its end, and a sequence with this text in it.
fn written(blocks: usize, said: &str) -> (Pool, Table) {
    let mut pool = pool(blocks);
    let mut table = EMPTY;
    for (position, token) in said.chars().enumerate() {
        if position % BLOCK_SIZE == 0 {
            let block = blocks - 1 - position / BLOCK_SIZE;
            pool.owners[block] = 1;
            table.blocks.push(block);
        }
        pool.contents[table.blocks[position / BLOCK_SIZE]][position % BLOCK_SIZE] = token;
        table.length += 1;
    }
    (pool, table)
}

fn case(rule: &str, blocks: usize, a: &str, calls: &str) -> Case {
    Case::rule(rule).given("blocks in all", blocks).given("A", a).given("calls", calls)
}

fn grows(case: &Case, appended: bool) {
    case.holds(appended, "append returns true: there are enough blocks", "false");
}

#[test]
fn the_example_of_the_task() {
    let case = case(
        "the example above the function: a shared block with room is copied before it is written, and its owners are one fewer",
        3,
        "abcdef",
        "B = fork(A), append(B, 'x')",
    );
    let mut pool = Pool {
        contents: vec![['a', 'b', 'c', 'd'], ['e', 'f', '.', '.'], ['.'; 4]],
        owners: vec![1, 1, 0],
    };
    let a = Table { blocks: vec![0, 1], length: 6 };
    let mut b = fork(&mut pool, &a);
    grows(&case, append(&mut pool, &mut b, 'x'));
    case.equal(["abcdef", "abcdefx"].map(str::to_owned), [text(&pool, &a), text(&pool, &b)]);
    case.equal(("blocks of A", vec![0, 1]), ("blocks of A", a.blocks.clone()));
    case.equal(("blocks of B", vec![0, 2]), ("blocks of B", b.blocks.clone()));
    case.equal(("owners", vec![2, 1, 1]), ("owners", pool.owners.clone()));
}

#[test]
fn a_sequence_of_its_own_grows_block_by_block() {
    let case =
        case("a block is added if the last is full: (text, blocks)", 3, "", "append, 9 times");
    let (mut pool, mut a) = (pool(3), EMPTY);
    for (count, token) in ('a'..='i').enumerate() {
        grows(&case, append(&mut pool, &mut a, token));
        let expected: String = ('a'..='i').take(count + 1).collect();
        let blocks = (count + 1).div_ceil(BLOCK_SIZE);
        case.equal((expected, blocks), (text(&pool, &a), a.blocks.len()));
        case.equal(("free", 3 - blocks), ("free", free(&pool)));
        case.holds(a.blocks.iter().all(|&block| pool.owners[block] == 1), "one owner each", &a);
    }
}

#[test]
fn who_is_alone_copies_nothing() {
    let case = case(
        "a block with one owner is written in place, even if no block is free",
        2,
        "abcdef",
        "append(A, 'g'), append(A, 'h')",
    );
    let (mut pool, mut a) = written(2, "abcdef");
    let blocks = a.blocks.clone();
    grows(&case, append(&mut pool, &mut a, 'g'));
    grows(&case, append(&mut pool, &mut a, 'h'));
    case.equal(("abcdefgh".to_owned(), blocks), (text(&pool, &a), a.blocks.clone()));
}

#[test]
fn a_shared_block_with_room_is_copied_once() {
    let rule = "the first that writes copies, and the other is alone then: (A, B)";
    let case = case(rule, 3, "abcdef", "B = fork(A), append(B, 'x'), append(A, 'g')");
    let (mut pool, mut a) = written(3, "abcdef");
    let mut b = fork(&mut pool, &a);
    let last = a.blocks[1];
    grows(&case, append(&mut pool, &mut b, 'x'));
    grows(&case, append(&mut pool, &mut a, 'g'));
    case.equal(("abcdefg".to_owned(), "abcdefx".to_owned()), (text(&pool, &a), text(&pool, &b)));
    case.equal(("last block of A", last), ("last block of A", a.blocks[1]));
    case.equal(("owners", vec![1, 1, 2]), ("owners", pool.owners.clone()));

    let rule = "with three owners, two of them copy: (A, B, C)";
    let calls = "B = fork(A), C = fork(B), append(A, 'x'), append(B, 'y'), append(C, 'z')";
    let case = self::case(rule, 4, "ab", calls);
    let (mut pool, mut a) = written(4, "ab");
    let mut b = fork(&mut pool, &a);
    let mut c = fork(&mut pool, &b);
    for (table, token) in [(&mut a, 'x'), (&mut b, 'y'), (&mut c, 'z')] {
        grows(&case, append(&mut pool, table, token));
    }
    let found = [&a, &b, &c].map(|table| text(&pool, table));
    case.equal(["abx", "aby", "abz"].map(str::to_owned), found);
    case.equal(("free", 1), ("free", free(&pool)));
}

#[test]
fn a_full_block_stays_shared() {
    let rule = "a full block is not written again: a new one is added, and nothing is copied";
    let case = case(rule, 3, "abcd", "B = fork(A), append(B, 'x'), append(A, 'e')");
    let (mut pool, mut a) = written(3, "abcd");
    let mut b = fork(&mut pool, &a);
    let first = a.blocks[0];
    grows(&case, append(&mut pool, &mut b, 'x'));
    grows(&case, append(&mut pool, &mut a, 'e'));
    case.equal(("abcde".to_owned(), "abcdx".to_owned()), (text(&pool, &a), text(&pool, &b)));
    case.equal(("first blocks", first, first), ("first blocks", a.blocks[0], b.blocks[0]));
    case.equal(("owners of it", 2), ("owners of it", pool.owners[first]));
    case.equal(("free", 0), ("free", free(&pool)));
}

#[test]
fn full_blocks_before_the_copied_one_stay_shared() {
    let rule = "only the last block is copied";
    let case = case(rule, 5, "abcdefghij", "B = fork(A), append(B, 'x')");
    let (mut pool, a) = written(5, "abcdefghij");
    let mut b = fork(&mut pool, &a);
    grows(&case, append(&mut pool, &mut b, 'x'));
    case.equal(("shared", a.blocks[..2].to_vec()), ("shared", b.blocks[..2].to_vec()));
    case.equal(("free", 1), ("free", free(&pool)));
    case.equal("abcdefghijx".to_owned(), text(&pool, &b));
}

#[test]
fn without_a_free_block_nothing_changes() {
    for (rule, said) in [
        ("no block for a copy: false, and nothing has changed", "abcdef"),
        ("no block to add: false, and nothing has changed", "abcdefgh"),
    ] {
        let case = case(rule, 2, said, "B = fork(A), append(B, 'x')");
        let (mut pool, a) = written(2, said);
        let mut b = fork(&mut pool, &a);
        let before = (pool.clone(), b.clone());
        case.equal(false, append(&mut pool, &mut b, 'x'));
        case.equal(before, (pool, b));
    }
    let case = case("no block for the first token: false", 0, "", "append(A, 'a')");
    let mut a = EMPTY;
    case.equal(false, append(&mut pool(0), &mut a, 'a'));
    case.equal(EMPTY, a);
}

#[test]
fn what_the_last_owner_left_does_not_matter() {
    let rule = "what is not written yet may be anything; the length tells where the next one is";
    let case = case(
        rule,
        3,
        "abc, then shortened to ab",
        "B = fork(A), append(B, 'x'), append(A, 'y')",
    );
    let (mut pool, mut a) = written(3, "abc");
    pool.contents[0] = ['?'; BLOCK_SIZE];
    a.length = 2;
    let mut b = fork(&mut pool, &a);
    grows(&case, append(&mut pool, &mut b, 'x'));
    grows(&case, append(&mut pool, &mut a, 'y'));
    case.equal(("aby".to_owned(), "abx".to_owned()), (text(&pool, &a), text(&pool, &b)));
}

#[test]
fn who_was_cut_back_changes_nothing_of_the_other() {
    let rule = "B was cut back and writes again; A has written more of the shared block: (A, B)";
    let case = case(rule, 3, "abcdef", "B = fork(A), B cut back to abcde, append(B, 'x')");
    let (mut pool, a) = written(3, "abcdef");
    let mut b = fork(&mut pool, &a);
    b.length = 5;
    grows(&case, append(&mut pool, &mut b, 'x'));
    let expected = ("abcdef".to_owned(), "abcdex".to_owned());
    case.equal(expected, (text(&pool, &a), text(&pool, &b)));
}

#[test]
fn many_sequences_and_each_reads_its_own() {
    let mut random = Random::new(10);
    for round in 0..20 {
        let case = Case::rule("each sequence reads what was appended to it, whatever is shared")
            .given("blocks in all", 24)
            .given("calls", format!("60 forks and appends at random, round {round}"));
        let mut pool = pool(24);
        let mut tables = vec![(EMPTY, String::new())];
        for _ in 0..60 {
            let at = random.below(tables.len());
            if random.below(8) == 0 {
                let (table, said) = &tables[at];
                let copy = (fork(&mut pool, table), said.clone());
                tables.push(copy);
                continue;
            }
            let token = char::from(b'a' + random.below(26) as u8);
            let (table, said) = &mut tables[at];
            if append(&mut pool, table, token) {
                said.push(token);
            } else {
                case.holds(free(&pool) == 0, "true: a block is free", "false");
            }
        }
        let found: Vec<String> = tables.iter().map(|(table, _)| text(&pool, table)).collect();
        let expected: Vec<String> = tables.iter().map(|(_, said)| said.clone()).collect();
        case.equal(expected, found);
        let holders =
            |block| tables.iter().filter(|(table, _)| table.blocks.contains(&block)).count() as u32;
        let owners: Vec<u32> = (0..24).map(holders).collect();
        case.equal(("owners", owners), ("owners", pool.owners.clone()));
    }
}
