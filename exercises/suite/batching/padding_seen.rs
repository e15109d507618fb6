use super::padding_seen::attend_padded;
use crate::support::{Case, Random};

const TOLERANCE: f32 = 1e-5;

/// `[positions, head_dim]`
type Rows = Vec<Vec<f32>>;

fn attend_one(rule: &str, query: &[f32], keys: Rows, values: Rows, length: usize) -> (Case, Rows) {
    let case = Case::rule(rule)
        .given("query", query)
        .given("keys", &keys)
        .given("values", &values)
        .given("length", length)
        .given("columns of padding", keys.len() - length);
    let found = attend_padded(&[query.to_vec()], &[keys], &[values], &[length]);
    (case, found)
}

fn column(numbers: &[f32]) -> Rows {
    numbers.iter().map(|&number| vec![number]).collect()
}

#[test]
fn without_padding_it_is_plain_attention() {
    let rule = "without padding, scores of 0.5 * ln 9 and 0 give the weights 0.75 and 0.25, whose sum is 1";
    let keys = vec![vec![9_f32.ln(), 0.0, 0.0, 0.0], vec![0.0; 4]];
    let values = vec![vec![4.0, 0.0, 0.0, 0.0], vec![0.0, 4.0, 0.0, 0.0]];
    let (case, found) = attend_one(rule, &[1.0, 0.0, 0.0, 0.0], keys, values, 2);
    case.close(&[3.0, 1.0, 0.0, 0.0], &found[0], TOLERANCE);
}

#[test]
fn padding_of_zeros_takes_no_weight() {
    for (padding, key) in [(1, 1.0), (3, 1.0), (1, 0.0), (2, -3.0)] {
        let rule = "one token alone has the weight 1, however much padding stands before it: padding has the weight 0";
        let keys = [vec![0.0; padding], vec![key]].concat();
        let values = [vec![0.0; padding], vec![6.0]].concat();
        let (case, found) = attend_one(rule, &[1.0], column(&keys), column(&values), 1);
        case.close(&[6.0], &found[0], TOLERANCE);
    }
}

#[test]
fn every_token_of_the_text_is_seen() {
    for padding in 0..4 {
        let rule = "equal scores share the weight: the mean of the values, from the text's first token on, without padding";
        let keys = vec![2.0; padding + 3];
        let values = [vec![100.0; padding], vec![1.0, 2.0, 6.0]].concat();
        let (case, found) = attend_one(rule, &[1.0], column(&keys), column(&values), 3);
        case.close(&[3.0], &found[0], TOLERANCE);
    }
    let rule = "also of a long text: the mean of 0 to 99";
    let keys = vec![2.0; 102];
    let values: Vec<f32> = [-5.0, -5.0].into_iter().chain((0..100).map(|i| i as f32)).collect();
    let (case, found) = attend_one(rule, &[1.0], column(&keys), column(&values), 100);
    case.close(&[49.5], &found[0], 1e-3);
}

#[test]
fn padding_may_hold_any_number() {
    for (pad_key, pad_value) in [(0.0, 1000.0), (5.0, -1.0), (1000.0, 7.0), (-1000.0, 7.0)] {
        for key in [0.0, -40.0, 40.0] {
            let rule = "what stands in the padding changes nothing";
            let (keys, values) = (column(&[pad_key, key]), column(&[pad_value, 6.0]));
            let (case, found) = attend_one(rule, &[1.0], keys, values, 1);
            case.close(&[6.0], &found[0], TOLERANCE);
        }
    }
}

#[test]
fn padding_may_hold_the_greatest_numbers() {
    // The score of the padding is more than an f32 holds: infinity, or inf - inf, which is NaN.
    for pad_key in [
        [f32::MAX, f32::MAX],
        [f32::MAX, f32::MIN],
        [f32::MIN, f32::MIN],
    ] {
        let rule = "what stands in the padding changes nothing, even if its score overflows";
        let keys = vec![pad_key.to_vec(), vec![1.0, 0.0]];
        let values = vec![vec![f32::MAX, f32::MIN], vec![6.0, -2.0]];
        let (case, found) = attend_one(rule, &[10.0, 10.0], keys, values, 1);
        case.close(&[6.0, -2.0], &found[0], TOLERANCE);
    }
}

#[test]
fn a_text_may_have_any_score() {
    for score in [-200.0, -1e5, -1e12, -1e30] {
        let rule = "padding takes no weight, even if the scores of the text are very low";
        let (keys, values) = (column(&[0.0, 0.0, score]), column(&[100.0, -7.0, 6.0]));
        let (case, found) = attend_one(rule, &[1.0], keys, values, 1);
        case.close(&[6.0], &found[0], TOLERANCE);
    }
}

#[test]
fn a_key_of_zeros_is_a_key() {
    let rule = "padding is where it stands: a key of zeros in the text is seen";
    let (keys, values) = (column(&[0.0, 0.0, 0.0]), column(&[100.0, 2.0, 4.0]));
    let (case, found) = attend_one(rule, &[1.0], keys, values, 2);
    case.close(&[3.0], &found[0], TOLERANCE);
}

#[test]
fn each_text_of_a_batch_is_what_it_is_alone() {
    let mut random = Random::new(0);
    for batch in 2..6 {
        let head_dim = 3;
        let width = batch + 1;
        // Tenths, as they are printed when the test fails.
        let mut number = || (random.float(-2.0, 2.0) * 10.0).round() / 10.0;
        let mut rows = |count: usize| -> Rows {
            (0..count).map(|_| (0..head_dim).map(|_| number()).collect()).collect()
        };
        let queries = rows(batch);
        let keys: Vec<Rows> = (0..batch).map(|_| rows(width)).collect();
        let values: Vec<Rows> = (0..batch).map(|_| rows(width)).collect();
        let lengths: Vec<usize> = (0..batch).map(|row| width - row).collect();
        let case = Case::rule(
            "each text of a batch, with its own length, gets what it gets alone, without padding",
        )
        .given("queries", &queries)
        .given("keys", &keys)
        .given("values", &values)
        .given("lengths", &lengths);
        let found = attend_padded(&queries, &keys, &values, &lengths);
        case.equal(batch, found.len());
        for row in 0..batch {
            let first = width - lengths[row];
            let text = |all: &[Rows]| vec![all[row][first..].to_vec()];
            let query = vec![queries[row].clone()];
            let alone = attend_padded(&query, &text(&keys), &text(&values), &[lengths[row]]);
            case.close(&alone[0], &found[row], TOLERANCE);
        }
    }
}
