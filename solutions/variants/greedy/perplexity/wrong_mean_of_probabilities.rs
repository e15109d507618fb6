//! One divided by the mean of the probabilities.

pub fn perplexity(ids: &[u32], rows: &[Vec<f32>]) -> Option<f64> {
    let count = ids.len().checked_sub(1).filter(|&count| count > 0)?;
    let foretold = rows.iter().zip(&ids[1..]);
    let sum: f64 = foretold.map(|(row, &id)| f64::from(row[id as usize]).exp()).sum();
    Some(count as f64 / sum)
}
