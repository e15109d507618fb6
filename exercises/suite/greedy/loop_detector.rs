use super::loop_detector::{Loop, loop_detector};
use crate::support::{Case, Random};

fn check(rule: &str, ids: &[u32], [copies, longest]: [usize; 2], expected: Option<[usize; 2]>) {
    let case = Case::rule(rule).given("ids", ids).given("copies", copies).given("longest", longest);
    let expected = expected.map(|[seen, period]| Loop { seen, period });
    case.equal(expected, loop_detector(ids, copies, longest));
}

#[test]
fn the_moment_at_which_the_last_copy_is_whole() {
    let rule = "a loop is noticed with the token that makes the last copy whole";
    check(rule, &[9, 1, 2, 1, 2, 1, 2, 5], [3, 4], Some([7, 2]));
    check(rule, &[9, 1, 2, 1, 2, 1, 2, 1, 2, 1], [3, 4], Some([7, 2]));
    check(rule, &[1, 2, 3, 1, 2, 3, 1, 2, 3], [3, 4], Some([9, 3]));
    check(rule, &[7, 5, 5, 5], [3, 4], Some([4, 1]));
    check(rule, &[1, 2, 2, 1, 2, 2, 1, 2, 2], [3, 4], Some([9, 3]));
    check(rule, &[9, 1, 2, 3, 1, 2, 3, 1], [2, 4], Some([7, 3]));
    check(rule, &[9, 8, 1, 2, 3, 4, 1, 2, 3, 4], [2, 9], Some([10, 4]));
}

#[test]
fn the_number_of_copies() {
    let ids = [8, 1, 2, 1, 2, 1, 2, 1, 2, 1];
    let rule = "there must be as many whole copies as were asked for, the first one counted";
    for (copies, seen) in [(2, 5), (3, 7), (4, 9)] {
        check(rule, &ids, [copies, 4], Some([seen, 2]));
    }
    check(rule, &ids, [5, 4], None);
}

#[test]
fn no_loop() {
    let rule = "a text without a loop has none";
    check(rule, &[], [3, 4], None);
    check(rule, &[4], [3, 4], None);
    check(rule, &[1, 2, 3, 4, 5, 6], [2, 3], None);
    let rule = "a copy that is cut off is none";
    check(rule, &[1, 2, 3, 1, 2, 3, 1, 2], [3, 4], None);
    let rule = "copies with another token between them are no loop";
    check(rule, &[1, 2, 9, 1, 2, 8, 1, 2, 7, 1, 2], [3, 3], None);
    check(rule, &[1, 1, 2, 1, 1, 3, 1, 1], [3, 2], None);
}

#[test]
fn a_loop_that_was_left() {
    let rule = "a loop is noticed while it lasts, whatever comes after it";
    check(rule, &[3, 6, 6, 6, 1, 2], [3, 4], Some([4, 1]));
    check(rule, &[3, 6, 4, 6, 4, 1, 2, 5], [2, 4], Some([5, 2]));
}

#[test]
fn the_longest_block() {
    let rule = "a block has no more tokens than `longest`, and may have as many";
    check(rule, &[1, 2, 3, 1, 2, 3], [2, 3], Some([6, 3]));
    check(rule, &[1, 2, 3, 1, 2, 3], [2, 2], None);
    check(rule, &[1, 2, 1, 2], [2, 1], None);
    check(rule, &[1, 2, 3, 1, 2, 3], [2, 1000], Some([6, 3]));
    let ids: Vec<u32> = (0..30).chain(0..30).collect();
    check(rule, &ids, [2, 30], Some([60, 30]));
    check(rule, &ids, [2, 29], None);
    let ids: Vec<u32> = (0..700).chain(0..700).collect();
    check(rule, &ids, [2, usize::MAX], Some([1400, 700]));
}

#[test]
fn tokens_are_equal_in_all_their_digits() {
    let rule = "two tokens are equal only if their whole ids are";
    check(rule, &[1, 257, 65_537], [2, 3], None);
    check(rule, &[65_537, 1], [2, 3], None);
    check(rule, &[65_537, 257, 65_537, 257], [2, 3], Some([4, 2]));
}

#[test]
fn numbers_as_great_as_can_be() {
    let rule = "no text holds so many copies, and no block is too long to be looked for";
    for copies in [7, 1000, usize::MAX / 2 + 2, usize::MAX] {
        check(rule, &[5, 5, 5, 5, 5, 5], [copies, 4], None);
        check(rule, &[1, 2, 1, 2, 1, 2], [copies, usize::MAX], None);
    }
    check(rule, &[1, 2, 1, 2, 1, 2], [3, usize::MAX], Some([6, 2]));
}

#[test]
fn the_first_of_two_loops() {
    let rule = "the loop that is noticed first counts, not the longer one";
    check(rule, &[1, 2, 2, 2, 1, 2, 2, 2, 1, 2, 2, 2], [3, 4], Some([4, 1]));
    check(rule, &[1, 1, 2, 1, 1, 2], [2, 4], Some([2, 1]));
    let rule = "the loop that is noticed first counts, not the one with the shorter block";
    check(rule, &[1, 2, 1, 2, 3, 3], [2, 4], Some([4, 2]));
}

/// Whether `ids` end with `copies` copies of their last `period` tokens.
fn ends_with_copies(ids: &[u32], copies: usize, period: usize) -> bool {
    copies * period <= ids.len() && ids.ends_with(&ids[ids.len() - period..].repeat(copies))
}

#[test]
fn random_texts() {
    let mut random = Random::new(4);
    for length in 1..40 {
        for copies in 2..5 {
            let ids: Vec<u32> = (0..length).map(|_| random.below(2) as u32).collect();
            let longest = 1 + random.below(6);
            let first = (1..=ids.len())
                .flat_map(|seen| (1..=longest).map(move |period| [seen, period]))
                .find(|&[seen, period]| ends_with_copies(&ids[..seen], copies, period));
            let rule = "the first moment at which the text ends with the copies";
            check(rule, &ids, [copies, longest], first);
        }
    }
}
