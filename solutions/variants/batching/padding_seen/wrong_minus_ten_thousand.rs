//! A score of -1e4 is very low, and no -inf.

pub fn attend_padded(
    queries: &[Vec<f32>],
    keys: &[Vec<Vec<f32>>],
    values: &[Vec<Vec<f32>>],
    lengths: &[usize],
) -> Vec<Vec<f32>> {
    let mut mixed = Vec::new();
    for (row, query) in queries.iter().enumerate() {
        let scale = (query.len() as f32).sqrt();
        let mut scores: Vec<f32> = keys[row].iter().map(|key| dot(query, key) / scale).collect();
        let first = scores.len() - lengths[row];
        for score in &mut scores[..first] {
            *score = -1e4;
        }
        let weights = softmax(&scores);
        let mut sum = vec![0.0; query.len()];
        for (weight, value) in weights.iter().zip(&values[row]) {
            for (total, number) in sum.iter_mut().zip(value) {
                *total += weight * number;
            }
        }
        mixed.push(sum);
    }
    mixed
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
