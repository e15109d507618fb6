//! Group by group: the queries in chunks, each with its keys and values.

pub fn grouped_query_attention(
    queries: &[Vec<f32>],
    keys: &[Vec<Vec<f32>>],
    values: &[Vec<Vec<f32>>],
) -> Vec<Vec<f32>> {
    let head_dim = queries[0].len();
    let scale = (head_dim as f32).powf(-0.5);
    let mut result = vec![];
    for (kv, group) in queries.chunks(queries.len() / keys.len()).enumerate() {
        for query in group {
            let mut scores = vec![];
            for key in &keys[kv] {
                let mut score = 0.0;
                for i in 0..head_dim {
                    score += query[i] * scale * key[i];
                }
                scores.push(score);
            }
            let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let mut sum = 0.0;
            let mut total = vec![0.0; head_dim];
            for (t, score) in scores.iter().enumerate() {
                let weight = (score - greatest).exp();
                sum += weight;
                for i in 0..head_dim {
                    total[i] += weight * values[kv][t][i];
                }
            }
            result.push(total.iter().map(|number| number / sum).collect());
        }
    }
    result
}
