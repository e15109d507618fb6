//! The key/value heads are dealt in turn: 0, 1, 0, 1.

pub fn grouped_query_attention(
    queries: &[Vec<f32>],
    keys: &[Vec<Vec<f32>>],
    values: &[Vec<Vec<f32>>],
) -> Vec<Vec<f32>> {
    let heads = queries.iter().enumerate();
    heads
        .map(|(h, query)| attend(query, &keys[h % keys.len()], &values[h % keys.len()]))
        .collect()
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
