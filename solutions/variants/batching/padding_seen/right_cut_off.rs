//! The padding is cut off before anything is computed.

pub fn attend_padded(
    queries: &[Vec<f32>],
    keys: &[Vec<Vec<f32>>],
    values: &[Vec<Vec<f32>>],
    lengths: &[usize],
) -> Vec<Vec<f32>> {
    let alone = |row: usize| {
        let query = &queries[row];
        let first = keys[row].len() - lengths[row];
        let scale = (query.len() as f32).powf(-0.5);
        let scores: Vec<f32> =
            keys[row][first..].iter().map(|key| dot(query, key) * scale).collect();
        let weights = softmax(&scores);
        (0..query.len())
            .map(|d| weights.iter().zip(&values[row][first..]).map(|(w, v)| w * v[d]).sum())
            .collect()
    };
    (0..queries.len()).map(alone).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn softmax(scores: &[f32]) -> Vec<f32> {
    let greatest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exps: Vec<f32> = scores.iter().map(|score| (score - greatest).exp()).collect();
    let sum: f32 = exps.iter().sum();
    exps.iter().map(|exp| exp / sum).collect()
}
