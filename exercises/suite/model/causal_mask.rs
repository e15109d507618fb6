use super::causal_mask::causal_mask;
use crate::support::{Case, device, mask_rows};

/// A window that is longer than every text here.
const WIDE: usize = 100;

fn check(rule: &str, [seq, start, window]: [usize; 3], expected: &[&[u8]]) {
    let case = Case::rule(rule).given("seq", seq).given("start", start).given("window", window);
    let mask = causal_mask(seq, start, window, &device());
    case.holds(
        mask.dims() == [seq, start + seq],
        &format!("the shape [seq, start + seq], {:?}", [seq, start + seq]),
        mask.dims(),
    );
    let expected: Vec<Vec<u8>> = expected.iter().map(|row| row.to_vec()).collect();
    case.equal(expected, mask_rows(mask));
}

#[test]
fn without_a_cache_the_corner_above_the_diagonal_is_hidden() {
    let rule = "a token sees itself and what came before it, and nothing later (true means hidden)";
    check(rule, [3, 0, WIDE], &[&[0, 1, 1], &[0, 0, 1], &[0, 0, 0]]);
}

#[test]
fn cached_tokens_are_seen_by_all_new_ones() {
    let rule = "the new token i stands at the position start + i";
    check(rule, [2, 2, WIDE], &[&[0, 0, 0, 1], &[0, 0, 0, 0]]);
    check(rule, [3, 1, WIDE], &[&[0, 0, 1, 1], &[0, 0, 0, 1], &[0, 0, 0, 0]]);
}

#[test]
fn one_new_token_sees_everything() {
    for start in [0, 1, 7] {
        let rule = "nothing is later than the last token, so nothing is hidden from it";
        check(rule, [1, start, WIDE], &[&vec![0; start + 1]]);
    }
}

#[test]
fn what_is_too_far_back_is_hidden() {
    let rule = "a token sees itself and the window - 1 positions before it";
    let two: [&[u8]; 4] = [&[0, 1, 1, 1], &[0, 0, 1, 1], &[1, 0, 0, 1], &[1, 1, 0, 0]];
    check(rule, [4, 0, 2], &two);
    let three: [&[u8]; 4] = [&[0, 1, 1, 1], &[0, 0, 1, 1], &[0, 0, 0, 1], &[1, 0, 0, 0]];
    check(rule, [4, 0, 3], &three);
    let rule = "with a window of 1, a token sees only itself";
    check(rule, [3, 0, 1], &[&[0, 1, 1], &[1, 0, 1], &[1, 1, 0]]);
    check(rule, [1, 0, 1], &[&[0]]);
}

#[test]
fn a_window_and_a_cache() {
    let rule = "the window counts positions of the text, cached ones too";
    check(rule, [2, 2, 2], &[&[1, 0, 0, 1], &[1, 1, 0, 0]]);
    check(rule, [2, 3, 3], &[&[1, 0, 0, 0, 1], &[1, 1, 0, 0, 0]]);
    check(rule, [1, 5, 2], &[&[1, 1, 1, 1, 0, 0]]);
}

#[test]
fn a_window_that_is_longer_than_the_text() {
    let rule = "a window that is as long as the text, or longer, hides nothing";
    for window in [4, 5, 1 << 40, usize::MAX] {
        check(rule, [2, 2, window], &[&[0, 0, 0, 1], &[0, 0, 0, 0]]);
    }
    check(
        "a window of one less hides one position",
        [2, 2, 3],
        &[&[0, 0, 0, 1], &[1, 0, 0, 0]],
    );
}

#[test]
fn token_by_token_is_all_at_once() {
    let total = 6;
    for window in [1, 2, 4, WIDE] {
        let row = |i: usize| -> Vec<u8> {
            (0..total).map(|j| u8::from(j > i || i - j >= window)).collect()
        };
        let whole: Vec<Vec<u8>> = (0..total).map(row).collect();
        let whole: Vec<&[u8]> = whole.iter().map(Vec::as_slice).collect();
        for start in 0..total {
            for seq in 1..=total - start {
                let rows: Vec<&[u8]> =
                    whole[start..start + seq].iter().map(|row| &row[..start + seq]).collect();
                let rule = "the rows of the new tokens are rows of the mask for the whole text";
                check(rule, [seq, start, window], &rows);
            }
        }
    }
}
