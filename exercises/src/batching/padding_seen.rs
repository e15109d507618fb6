//! A bug hunt: the short texts of a batch are nearly right.

/// Attention of the newest token of each text, in a batch that is padded on the left.
///
/// `queries` is `[batch, head_dim]`: one newest token for each text, and one head. `keys` and
/// `values` are `[batch, width, head_dim]`. The last `lengths[b]` columns of row `b` belong to its
/// text, including the newest token; the columns before are padding. They hold numbers that mean
/// nothing: often zeros, but any finite number may stand there. A length is at least 1 and at most
/// the width. The scores of a text lie between -1e30 and 1e30. Returns `[batch, head_dim]`.
///
/// **What was observed.** The longest text of a batch is always right, and so is every text alone.
/// The shorter texts of a batch come out nearly right: their first words are the same as alone,
/// then they drift off. The more padding stands before a text, the sooner it drifts. The keys and
/// values of the padding were all zeros, so nobody suspected them.
///
/// Find the reason, and fix it. What should be:
///
/// ```text
/// one text of 1 token in a width of 2, head_dim 1
/// query 1   keys 0 1   values 0 6   lengths 1    ->  6
/// ```
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
            *score = 0.0;
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
