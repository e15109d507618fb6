//! Grouped-query attention, for one position, in plain loops.
//!
//! Why: a cache must hold the keys and values of each position, so a model saves memory if it has
//! fewer of them than of queries. Query head `h` uses key/value head `h / group`, because a group
//! is a row of neighbours. And why divide the scores by the root of `head_dim`? A sum of more
//! products has larger values, and the softmax would give nearly all weight to one position.
//!
//! What it costs: two products of `head_dim` numbers for each query head and position. Sharing
//! saves memory, but none of this arithmetic.
//!
//! A common wrong turn: `h % n_kv_heads` instead of `h / group`. Every shape is right, but with
//! four heads and two, heads 1 and 2 look at the wrong keys.

/// What each query head of one position gets from all positions. `queries` is
/// `[n_heads][head_dim]`, `keys` and `values` are `[n_kv_heads][total][head_dim]`, and the result is
/// `[n_heads][head_dim]`.
pub fn grouped_query_attention(
    queries: &[Vec<f32>],
    keys: &[Vec<Vec<f32>>],
    values: &[Vec<Vec<f32>>],
) -> Vec<Vec<f32>> {
    let group = queries.len() / keys.len();
    let heads = queries.iter().enumerate();
    heads.map(|(h, query)| attend(query, &keys[h / group], &values[h / group])).collect()
}

fn attend(query: &[f32], keys: &[Vec<f32>], values: &[Vec<f32>]) -> Vec<f32> {
    let root = (query.len() as f32).sqrt();
    let exps: Vec<f32> = keys.iter().map(|key| (dot(query, key) / root).exp()).collect();
    let sum: f32 = exps.iter().sum();
    let mut mean = vec![0.0; query.len()];
    for (exp, value) in exps.iter().zip(values) {
        for (mean, number) in mean.iter_mut().zip(value) {
            *mean += exp / sum * number;
        }
    }
    mean
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
