use super::grouped_query_attention::grouped_query_attention;
use crate::support::{Case, Random};

type Head = Vec<Vec<f32>>;

fn check(rule: &str, queries: &[Vec<f32>], keys: &[Head], values: &[Head], expected: &[Vec<f32>]) {
    let case =
        Case::rule(rule).given("queries", queries).given("keys", keys).given("values", values);
    let found = grouped_query_attention(queries, keys, values);
    let shape = |heads: &[Vec<f32>]| heads.iter().map(Vec::len).collect::<Vec<_>>();
    case.holds(
        shape(expected) == shape(&found),
        "the shape [n_heads][head_dim], as `queries` has",
        &found,
    );
    case.close_rows(expected, &found, 1e-4);
}

/// A row of numbers as the key or value of each position.
fn head(positions: &[[f32; 2]]) -> Head {
    positions.iter().map(|vector| vector.to_vec()).collect()
}

#[test]
fn the_vectors_of_the_page() {
    let rule = "the result is the mean of the values, weighted by the softmax of the scores";
    let keys = [head(&[[1.0, 0.0], [0.0, 1.0]])];
    let values = [head(&[[3.0, 0.0], [0.0, 3.0]])];
    check(rule, &[vec![1.0, 0.0]], &keys, &values, &[vec![2.009_285, 0.990_715]]);
}

#[test]
fn all_positions_count() {
    let rule = "with equal scores, it is the mean of the values of all positions, however many";
    let keys = [vec![vec![0.0, 0.0]; 200]];
    let values = [(0..200).map(|t| vec![t as f32 / 200.0, 1.0]).collect::<Head>()];
    check(rule, &[vec![1.0, 1.0]], &keys, &values, &[vec![0.4975, 1.0]]);
}

#[test]
fn scores_are_divided_by_the_root_of_head_dim() {
    let rule = "a score is divided by the root of head_dim, here 2";
    let keys = [vec![vec![2.0, 0.0, 0.0, 0.0], vec![0.0, 2.0, 0.0, 0.0]]];
    let values = [vec![vec![1.0, 0.0, 5.0, 0.0], vec![0.0, 1.0, 5.0, 0.0]]];
    let expected = [vec![0.880_797, 0.119_203, 5.0, 0.0]];
    check(rule, &[vec![2.0, 0.0, 7.0, 0.0]], &keys, &values, &expected);
    let keys = [head(&[[1.0, 0.0], [0.25, 0.0]])];
    let values = [head(&[[1.0, 0.0], [0.0, 1.0]])];
    let rule = "a score is divided by the root of head_dim, here the root of 2";
    check(rule, &[vec![8.0, 0.0]], &keys, &values, &[vec![0.985_834, 0.014_166]]);
}

#[test]
fn several_heads_do_not_change_the_scale() {
    let rule = "each query of a group has scores of its own, divided by the root of head_dim, which is 2 here, however many heads there are";
    let queries = [[1.0, 2.0], [-1.0, 0.5], [0.5, -2.0], [3.0, 1.0]].map(Vec::from);
    let keys = [
        head(&[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        head(&[[2.0, -1.0], [0.5, 0.5], [-1.0, 1.0]]),
    ];
    let values = [
        head(&[[1.0, 0.0], [0.0, 1.0], [4.0, -2.0]]),
        head(&[[3.0, 0.0], [0.0, 3.0], [1.0, 1.0]]),
    ];
    let expected = [
        [2.443_931, -0.867_955],
        [1.260_538, 0.007_537],
        [2.768_531, 0.212_712],
        [2.668_319, 0.325_393],
    ];
    check(rule, &queries, &keys, &values, &expected.map(Vec::from));
}

#[test]
fn neighbouring_query_heads_share() {
    let rule = "with one position, each query head gets the value of its key/value head: \
                neighbours have the same one";
    for (n_heads, n_kv_heads) in [
        (4, 2),
        (6, 2),
        (6, 3),
        (8, 2),
        (32, 4),
        (3, 3),
        (3, 1),
        (1, 1),
    ] {
        let queries = vec![vec![1.0, 2.0]; n_heads];
        let keys = vec![head(&[[1.0, 1.0]]); n_kv_heads];
        let values: Vec<Head> = (0..n_kv_heads).map(|h| head(&[[h as f32, 0.5]])).collect();
        let group = n_heads / n_kv_heads;
        let expected: Vec<Vec<f32>> =
            (0..n_kv_heads).flat_map(|h| vec![vec![h as f32, 0.5]; group]).collect();
        check(rule, &queries, &keys, &values, &expected);
    }
}

#[test]
fn the_keys_are_shared_too() {
    let rule = "a query head uses the keys of its key/value head";
    // Head 0 fits the first position, head 1 the last, and each by far.
    let keys = [
        head(&[[20.0, 0.0], [0.0, 0.0]]),
        head(&[[0.0, 0.0], [20.0, 0.0]]),
    ];
    let values = [
        head(&[[1.0, 0.0], [2.0, 0.0]]),
        head(&[[3.0, 0.0], [4.0, 0.0]]),
    ];
    let expected = [
        vec![1.0, 0.0],
        vec![1.0, 0.0],
        vec![4.0, 0.0],
        vec![4.0, 0.0],
    ];
    check(rule, &vec![vec![2.0, 0.0]; 4], &keys, &values, &expected);
}

#[test]
fn each_query_head_looks_for_itself() {
    let rule = "query heads that share keys and values still have weights of their own";
    let keys = [head(&[[9.0, 0.0], [0.0, 9.0], [0.0, 0.0]])];
    let values = [head(&[[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])];
    let queries = [vec![5.0, 0.0], vec![0.0, 5.0], vec![0.0, 0.0]];
    check(
        rule,
        &queries,
        &keys,
        &values,
        &[vec![1.0, 0.0], vec![0.0, 1.0], vec![0.5, 0.5]],
    );
}

#[test]
fn equal_keys_give_the_mean() {
    let mut random = Random::new(0);
    for total in (1..12).chain([40]) {
        let query = random.scores(2);
        let keys = [vec![random.scores(2); total]];
        let values = [(0..total).map(|_| random.scores(2)).collect::<Head>()];
        let mean = |i: usize| values[0].iter().map(|value| value[i]).sum::<f32>() / total as f32;
        let rule = "if all keys are equal, all positions count the same";
        check(rule, &[query], &keys, &values, &[vec![mean(0), mean(1)]]);
    }
}

#[test]
fn heads_of_any_width() {
    let mut random = Random::new(1);
    for head_dim in [1, 2, 3, 5, 8] {
        let mut vector =
            || -> Vec<f32> { (0..head_dim).map(|_| random.float(-1.0, 1.0)).collect() };
        let query = vector();
        let keys = [vec![vector(), vector(), vector()]];
        let values = [vec![vector(), vector(), vector()]];
        let weights: Vec<f64> = keys[0]
            .iter()
            .map(|key| {
                let products = key.iter().zip(&query).map(|(a, b)| f64::from(*a) * f64::from(*b));
                (products.sum::<f64>() / (head_dim as f64).sqrt()).exp()
            })
            .collect();
        let sum: f64 = weights.iter().sum();
        let mean = |i: usize| {
            let parts = weights.iter().zip(&values[0]).map(|(w, value)| w * f64::from(value[i]));
            (parts.sum::<f64>() / sum) as f32
        };
        let expected = [(0..head_dim).map(mean).collect()];
        let rule = "all numbers of a head count, however many there are";
        check(rule, std::slice::from_ref(&query), &keys, &values, &expected);
    }
}
