//! The surprises are added in f32, which is exact enough for texts of this length.

pub fn perplexity(ids: &[u32], rows: &[Vec<f32>]) -> Option<f64> {
    let foretold = ids.iter().skip(1);
    let surprises = rows.iter().zip(foretold).map(|(row, &id)| -row[id as usize]);
    let count = ids.len().checked_sub(1).filter(|&count| count > 0)?;
    Some((f64::from(surprises.sum::<f32>() / count as f32)).exp())
}
