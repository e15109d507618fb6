//! The short texts of a batch were nearly right; now they are.
//!
//! Why: a score of 0 is not a weight of 0. The softmax makes `exp(0)` of it, as much as any token
//! gets whose key fits neither well nor badly. With zeros as values, the padding added nothing to
//! the sum but still took a share of the weights, so all numbers came out too small. A score of
//! -inf gets the weight 0, and the rest is as if the text were alone.
//!
//! What it costs: nothing. The scores of the padding are still computed, though nobody uses them;
//! that is the price of the rectangle.
//!
//! A common wrong turn: setting the weights of the padding to 0 after the softmax. The weights that
//! are left no longer have the sum 1, and with zeros as values nothing has changed at all.

/// Attention of the newest token of each text, in a batch that is padded on the left.
///
/// `queries` is `[batch, head_dim]`; `keys` and `values` are `[batch, width, head_dim]`, and the
/// last `lengths[b]` columns of row `b` belong to its text. Returns `[batch, head_dim]`.
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
            *score = f32::NEG_INFINITY;
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
