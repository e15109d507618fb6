use super::last_row::last_row;
use crate::support::Case;

/// Rows in which the number before the point is the row, and the one after it the token.
fn rows(seq: usize, vocab: usize) -> Vec<f32> {
    (0..seq)
        .flat_map(|row| (0..vocab).map(move |token| row as f32 + token as f32 / 16.0))
        .collect()
}

fn check(rule: &str, seq: usize, vocab: usize) {
    let logits = rows(seq, vocab);
    let case = Case::rule(rule).given("logits", &logits).given("vocab", vocab);
    let expected: Vec<f32> =
        (0..vocab).map(|token| (seq - 1) as f32 + token as f32 / 16.0).collect();
    case.equal(Some(expected.as_slice()), last_row(&logits, vocab));
}

#[test]
fn the_last_row_of_several() {
    for (seq, vocab) in [(2, 3), (3, 2), (4, 3), (3, 5), (9, 4)] {
        check(
            "the result is the row of the last position, not the first, and all of it",
            seq,
            vocab,
        );
    }
}

#[test]
fn whatever_the_numbers_are() {
    let rule = "the place of a row decides, and not the numbers in it";
    for last in [
        [-8.0, -9.0],
        [0.0, 0.0],
        [3.0, 4.0],
        [f32::NEG_INFINITY, 1.0],
    ] {
        let logits = [3.0, 4.0, 1.0, 2.0, last[0], last[1]];
        let case = Case::rule(rule).given("logits", logits).given("vocab", 2);
        case.equal(Some(last.as_slice()), last_row(&logits, 2));
    }
}

#[test]
fn a_prompt_of_one_token() {
    for vocab in [2, 5] {
        check("the only row is the last one", 1, vocab);
    }
}

#[test]
fn a_vocabulary_of_one_token() {
    for seq in [1, 4] {
        check("a row may have one number", seq, 1);
    }
}

#[test]
fn many_rows() {
    let mut logits = vec![0.0; (1 << 24) + 1];
    *logits.last_mut().expect("there are many") = 1.0;
    let case = Case::rule("the last row, however many there are")
        .given("logits", "2^24 zeros and a 1")
        .given("vocab", 1);
    case.equal(Some([1.0].as_slice()), last_row(&logits, 1));
}

#[test]
fn an_empty_prompt_has_no_last_position() {
    for vocab in [1, 3] {
        let logits: [f32; 0] = [];
        let case = Case::rule("without a position there is no row: the result is None")
            .given("logits", logits)
            .given("vocab", vocab);
        case.equal(None, last_row(&logits, vocab));
    }
}
