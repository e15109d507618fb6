use super::causal_mask::causal_mask;
use crate::support::{Case, device, mask_rows};

#[test]
fn without_a_cache_the_corner_above_the_diagonal_is_hidden() {
    let case = Case::rule("a token sees itself and what came before it, and nothing later")
        .given("seq", 3)
        .given("start", 0);
    let expected = vec![vec![0, 1, 1], vec![0, 0, 1], vec![0, 0, 0]];
    case.equal(expected, mask_rows(causal_mask(3, 0, &device())));
}

#[test]
fn cached_tokens_are_seen_by_all_new_ones() {
    let case = Case::rule("the new token i stands at the position start + i")
        .given("seq", 2)
        .given("start", 2);
    let expected = vec![vec![0, 0, 0, 1], vec![0, 0, 0, 0]];
    case.equal(expected, mask_rows(causal_mask(2, 2, &device())));
}

#[test]
fn one_new_token_sees_everything() {
    for start in [0, 1, 7] {
        let case = Case::rule("nothing is later than the last token, so nothing is hidden from it")
            .given("seq", 1)
            .given("start", start);
        case.equal(vec![vec![0; start + 1]], mask_rows(causal_mask(1, start, &device())));
    }
}

#[test]
fn token_by_token_is_all_at_once() {
    let total = 6;
    for start in 0..total {
        let seq = total - start;
        let case = Case::rule(
            "the rows of the new tokens are the last rows of the mask for the whole text",
        )
        .given("seq", seq)
        .given("start", start);
        let whole: Vec<Vec<u8>> =
            (0..total).map(|i| (0..total).map(|j| u8::from(j > i)).collect()).collect();
        case.equal(whole[start..].to_vec(), mask_rows(causal_mask(seq, start, &device())));
    }
}
