use std::cell::Cell;

use super::absorbed_matrix::{Head, Matrix, absorbed_matrix};
use crate::support::{Case, Random};

type Rows = Vec<Vec<f32>>;

fn matrix(rows: &Rows) -> Matrix {
    Matrix { rows: rows.clone(), products: Cell::new(0) }
}

fn product(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

/// By keys and values.
fn expected(key: &Rows, value: &Rows, query: &[f32], latents: &Rows) -> Vec<f32> {
    let made = |rows: &Rows, latent: &Vec<f32>| -> Vec<f32> {
        rows.iter().map(|row| product(row, latent) as f32).collect()
    };
    let root = (key.len() as f64).sqrt();
    let scores: Vec<f64> =
        latents.iter().map(|latent| product(query, &made(key, latent)) / root).collect();
    let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let values: Rows = latents.iter().map(|latent| made(value, latent)).collect();
    let mean = |i: usize| -> f64 {
        values
            .iter()
            .zip(&weights)
            .map(|(value, weight)| f64::from(value[i]) * weight / sum)
            .sum()
    };
    (0..value.len()).map(|i| mean(i) as f32).collect()
}

#[track_caller]
fn check(rule: &str, key: &Rows, value: &Rows, query: &[f32], latents: &Rows) {
    let head = Head { key: matrix(key), value: matrix(value) };
    let case = Case::rule(rule)
        .given("the key matrix", key)
        .given("the value matrix", value)
        .given("query", query)
        .given("latents", latents);
    let found = absorbed_matrix(&head, query, latents);
    case.close(&expected(key, value, query, latents), &found, 1e-3);
    let products = [head.key.products.get(), head.value.products.get()];
    let words = "each matrix is multiplied once: [key, value] = [1, 1]";
    case.holds(products == [1, 1], words, products);
}

fn identity() -> Rows {
    vec![vec![1.0, 0.0], vec![0.0, 1.0]]
}

#[test]
fn latents_are_mixed_before_the_value_matrix() {
    let rule =
        "the latents are mixed by weights that sum to 1, and the mix goes through the value matrix";
    let latents = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
    let value = vec![vec![10.0, 1.0], vec![0.0, 2.0], vec![1.0, 0.0]];
    check(rule, &identity(), &value, &[0.0, 0.0], &latents);
    check(rule, &identity(), &value, &[0.2, -0.4], &latents);
}

#[test]
fn the_query_goes_through_the_key_matrix() {
    let rule =
        "the query meets latents after the transposed key matrix has taken it to their length";
    let key = vec![vec![1.0, 2.0], vec![0.0, 1.0]];
    let latents = vec![vec![1.0, 0.0], vec![0.0, 1.0]];
    check(rule, &key, &identity(), &[0.3, 0.1], &latents);
    let wide = vec![
        vec![1.0, 2.0, -1.0],
        vec![0.5, 1.0, 0.0],
        vec![0.0, 1.0, 2.0],
    ];
    let value = vec![vec![1.0, 0.0, 1.0]];
    let latents = vec![
        vec![1.0, 0.0, 2.0],
        vec![0.0, 1.0, -1.0],
        vec![1.0, 1.0, 0.0],
    ];
    check(rule, &wide, &value, &[0.5, -1.0, 0.2], &latents);
}

#[test]
fn the_scale_is_that_of_keys() {
    let rule = "scores are divided by the root of a key's length, and not of a latent's";
    let key = vec![vec![1.0, 2.0, 0.0, 1.0]];
    let latents = vec![vec![1.0, 0.0, 0.0, 0.0], vec![0.0, 0.0, 0.0, 2.0]];
    check(rule, &key, &vec![vec![1.0, 0.0, 0.0, 3.0]], &[1.0], &latents);
}

#[test]
fn one_latent() {
    let rule = "of a single position, all of the value is taken up";
    check(rule, &identity(), &vec![vec![2.0, 3.0]], &[1.0, 1.0], &vec![vec![5.0, 7.0]]);
}

#[test]
fn large_scores() {
    let rule = "scores may be too large for exp: the greatest is taken off first";
    let latents = vec![vec![100.0, 0.0], vec![0.0, 100.0], vec![-100.0, 0.0]];
    check(rule, &identity(), &identity(), &[10.0, 9.0], &latents);
    check(rule, &identity(), &identity(), &[-10.0, -9.0], &latents[..2].to_vec());
}

#[test]
fn any_head() {
    let mut random = Random::new(64);
    for _ in 0..100 {
        let [rank, keys, values, count] = [4, 5, 4, 6].map(|most| 1 + random.below(most));
        let mut rows = |count: usize, width: usize| -> Rows {
            (0..count).map(|_| (0..width).map(|_| random.float(-1.0, 1.0)).collect()).collect()
        };
        let (key, value) = (rows(keys, rank), rows(values, rank));
        let (query, latents) = (rows(1, keys).remove(0), rows(count, rank));
        check("as with keys and values", &key, &value, &query, &latents);
    }
}
