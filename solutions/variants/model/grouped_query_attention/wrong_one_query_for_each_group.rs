//! The queries of a group are taken for one, their mean.

pub fn grouped_query_attention(
    queries: &[Vec<f32>],
    keys: &[Vec<Vec<f32>>],
    values: &[Vec<Vec<f32>>],
) -> Vec<Vec<f32>> {
    let group = queries.len() / keys.len();
    let heads = queries.iter().enumerate();
    heads
        .map(|(h, query)| {
            let shared = &queries[h / group * group..(h / group + 1) * group];
            let mean: Vec<f32> = (0..query.len())
                .map(|i| shared.iter().map(|query| query[i]).sum::<f32>() / group as f32)
                .collect();
            attend(&mean, &keys[h / group], &values[h / group])
        })
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
