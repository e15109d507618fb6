//! No surprise counts for more than 100, also where a token could not come.

pub fn perplexity(ids: &[u32], rows: &[Vec<f32>]) -> Option<f64> {
    let foretold = ids.iter().skip(1);
    let surprises = rows.iter().zip(foretold).map(|(row, &id)| -f64::from(row[id as usize]));
    let count = ids.len().checked_sub(1).filter(|&count| count > 0)?;
    Some((surprises.map(|s| s.min(100.0)).sum::<f64>() / count as f64).exp())
}
