//! The logarithm of the exponential: a probability of e^-800 becomes 0 on the way.

pub fn perplexity(ids: &[u32], rows: &[Vec<f32>]) -> Option<f64> {
    let foretold = ids.iter().skip(1);
    let surprises =
        rows.iter().zip(foretold).map(|(row, &id)| -f64::from(row[id as usize]).exp().ln());
    let count = ids.len().checked_sub(1).filter(|&count| count > 0)?;
    Some((surprises.sum::<f64>() / count as f64).exp())
}
