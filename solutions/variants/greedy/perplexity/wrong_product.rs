//! The probabilities are multiplied, and the product becomes 0.

pub fn perplexity(ids: &[u32], rows: &[Vec<f32>]) -> Option<f64> {
    let count = ids.len().checked_sub(1).filter(|&count| count > 0)?;
    let foretold = rows.iter().zip(&ids[1..]);
    let product: f64 = foretold.map(|(row, &id)| f64::from(row[id as usize]).exp()).product();
    Some(product.powf(-1.0 / count as f64))
}
