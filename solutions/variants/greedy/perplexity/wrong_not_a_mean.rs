//! The exponential of the sum, which grows with the length.

pub fn perplexity(ids: &[u32], rows: &[Vec<f32>]) -> Option<f64> {
    if ids.len() < 2 {
        return None;
    }
    let foretold = rows.iter().zip(&ids[1..]);
    Some(foretold.map(|(row, &id)| -f64::from(row[id as usize])).sum::<f64>().exp())
}
