//! A text without a token that was foretold is given the perplexity 1.

pub fn perplexity(ids: &[u32], rows: &[Vec<f32>]) -> Option<f64> {
    let foretold = ids.iter().skip(1);
    let surprises = rows.iter().zip(foretold).map(|(row, &id)| -f64::from(row[id as usize]));
    let count = ids.len().saturating_sub(1).max(1);
    Some((surprises.sum::<f64>() / count as f64).exp())
}
