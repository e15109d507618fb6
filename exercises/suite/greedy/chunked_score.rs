use std::cell::Cell;

use super::chunked_score::chunked_score;
use crate::support::{Case, Random};

/// What follows a text, of three tokens: the log-probabilities depend on all that came before.
fn row_after(text: &[u32]) -> Vec<f32> {
    let seen: u32 = text.iter().zip(1..).map(|(&id, place)| (id + 1) * place).sum();
    let weights = [seen % 7, seen % 5, seen % 3].map(|weight| weight as f32 + 0.1);
    let sum: f32 = weights.iter().sum();
    weights.iter().map(|weight| (weight / sum).ln()).collect()
}

fn model(ids: &[u32], count: usize) -> Vec<Vec<f32>> {
    (ids.len() + 1 - count..=ids.len()).map(|end| row_after(&ids[..end])).collect()
}

/// The perplexity, one token after the other.
fn expected(ids: &[u32]) -> f64 {
    let surprise = |at: usize| -f64::from(row_after(&ids[..at])[ids[at] as usize]);
    ((1..ids.len()).map(surprise).sum::<f64>() / (ids.len() - 1) as f64).exp()
}

fn check(rule: &str, ids: &[u32], chunk: usize) {
    let rows: Vec<Vec<f32>> = (1..=ids.len())
        .map(|end| row_after(&ids[..end]).iter().map(|ln| (ln.exp() * 1e4).round() / 1e4).collect())
        .collect();
    let case =
        Case::rule(rule).given("ids", ids).given("exp of the rows", rows).given("chunk", chunk);
    let expected = expected(ids);
    let found = chunked_score(&model, ids, chunk);
    case.holds((found / expected - 1.0).abs() < 1e-5, &format!("{expected:.5}"), found);
}

#[test]
fn one_chunk_for_all() {
    let rule = "the exponential of the mean surprise, of a text that fits into one chunk";
    check(rule, &[0, 2], 2);
    check(rule, &[0, 2, 1, 1], 4);
    check(rule, &[0, 2, 1, 1], 100);
    check(rule, &[0, 2, 1, 1], usize::MAX);
}

#[test]
fn a_token_that_could_not_come() {
    for chunk in [1, 2, 3, 4] {
        let case = Case::rule("a token of the probability 0 makes the perplexity infinite")
            .given("ids", [0, 0, 1, 0])
            .given("probability of each token 0", 1.0)
            .given("probability of each token 1", 0.0)
            .given("chunk", chunk);
        let model = |_: &[u32], count: usize| vec![vec![0.0, f32::NEG_INFINITY]; count];
        case.equal(f64::INFINITY, chunked_score(&model, &[0, 0, 1, 0], chunk));
    }
}

#[test]
fn a_token_that_could_not_come_in_a_long_text() {
    for chunk in [100, 4000] {
        let case = Case::rule("one token of the probability 0 makes the perplexity infinite")
            .given("ids", "3000 times the token 0, and then the token 1")
            .given("probability of each token 0", 1.0)
            .given("probability of each token 1", 0.0)
            .given("chunk", chunk);
        let ids = [[0; 3000].as_slice(), &[1]].concat();
        let model = |_: &[u32], count: usize| vec![vec![0.0, f32::NEG_INFINITY]; count];
        case.equal(f64::INFINITY, chunked_score(&model, &ids, chunk));
    }
}

#[test]
fn a_long_text_and_an_unlikely_one() {
    for (length, surprise) in [(3000, 2.0_f32), (3, 30.0)] {
        let case = Case::rule("the perplexity is the exponential of the mean surprise")
            .given("number of ids", length)
            .given("log-probability of every token", -surprise)
            .given("chunk", 100);
        let model = |_: &[u32], count: usize| vec![vec![-surprise]; count];
        let (expected, found) =
            (f64::from(surprise).exp(), chunked_score(&model, &vec![0; length], 100));
        case.holds((found / expected - 1.0).abs() < 1e-5, &format!("{expected:e}"), found);
    }
}

#[test]
fn two_chunks() {
    let rule = "each token but the first counts, also the first of a chunk";
    check(rule, &[0, 1, 2], 2);
    check(rule, &[0, 1, 2, 1], 2);
    check(rule, &[2, 0, 1, 2, 0, 0, 1], 4);
}

#[test]
fn chunks_of_one_position() {
    let rule = "each row predicts a token, even if it is the only one of its chunk";
    check(rule, &[0, 1], 1);
    check(rule, &[0, 1, 2, 1, 0], 1);
}

#[test]
fn the_table_of_the_task() {
    for chunk in [7, 4, 2, 1] {
        let case = Case::rule("equally likely tokens: the perplexity is their number")
            .given("ids", [0, 1, 2, 3, 0, 1, 2])
            .given("every probability", 0.25)
            .given("chunk", chunk);
        let model = |_: &[u32], count: usize| vec![vec![0.25_f32.ln(); 4]; count];
        let found = chunked_score(&model, &[0, 1, 2, 3, 0, 1, 2], chunk);
        case.holds((found - 4.0).abs() < 1e-4, "4", found);
    }
}

#[test]
fn a_surprise_at_the_border() {
    let case = Case::rule("a surprise counts wherever it stands, also at the start of a chunk")
        .given("ids", [0, 0, 1, 0])
        .given("probability of each token 0", 0.99)
        .given("probability of each token 1", 0.01)
        .given("chunk", 2);
    let model = |_: &[u32], count: usize| vec![vec![0.99_f32.ln(), 0.01_f32.ln()]; count];
    let expected = (0.99_f64 * 0.01 * 0.99).powf(-1.0 / 3.0);
    let found = chunked_score(&model, &[0, 0, 1, 0], 2);
    case.holds((found / expected - 1.0).abs() < 1e-5, &format!("{expected:.5}"), found);
}

#[test]
fn random_texts() {
    let mut random = Random::new(8);
    for length in 2..24 {
        let ids: Vec<u32> = (0..length).map(|_| random.below(3) as u32).collect();
        let chunk = 1 + random.below(length + 2);
        check("the size of the chunks changes nothing", &ids, chunk);
    }
}

#[test]
fn no_more_rows_than_a_chunk() {
    for chunk in [1, 3, 4] {
        let case = Case::rule("the model is asked for no more rows at once than `chunk`")
            .given("ids", [0, 1, 2, 1, 0, 2, 2])
            .given("chunk", chunk);
        let most = Cell::new(0);
        let watched = |ids: &[u32], count: usize| {
            most.set(most.get().max(count));
            model(ids, count)
        };
        chunked_score(&watched, &[0, 1, 2, 1, 0, 2, 2], chunk);
        let found = most.get();
        case.holds(found <= chunk, &format!("at most {chunk} rows"), found);
    }
}
