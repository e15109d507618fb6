//! The scale is the root of `d_model`, all heads together, instead of `head_dim`.

pub fn grouped_query_attention(
    queries: &[Vec<f32>],
    keys: &[Vec<Vec<f32>>],
    values: &[Vec<Vec<f32>>],
) -> Vec<Vec<f32>> {
    let group = queries.len() / keys.len();
    let heads = queries.iter().enumerate();
    heads
        .map(|(h, query)| attend(queries.len(), query, &keys[h / group], &values[h / group]))
        .collect()
}

fn attend(n: usize, query: &[f32], keys: &[Vec<f32>], values: &[Vec<f32>]) -> Vec<f32> {
    let root = ((n * query.len()) as f32).sqrt();
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
