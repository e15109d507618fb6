//! Each row is paired with the token at its own position.

/// The log-probabilities of the token that follows a position: `[vocab]`.
pub type Row = Vec<f32>;

pub fn chunked_score(model: &dyn Fn(&[u32], usize) -> Vec<Row>, ids: &[u32], chunk: usize) -> f64 {
    let mut sum = 0.0;
    let mut start = 0;
    while start < ids.len() {
        let end = (start + chunk).min(ids.len());
        let rows = model(&ids[..end], end - start);
        sum += surprise(&rows, &ids[start..end]);
        start = end;
    }
    (sum / (ids.len() - 1) as f64).exp()
}

/// The surprise that `ids` brought, in nats: `rows[i]` foretold `ids[i]`. What is left over, on
/// either side, does not count.
fn surprise(rows: &[Row], ids: &[u32]) -> f64 {
    rows.iter().zip(ids).map(|(row, &id)| -f64::from(row[id as usize])).sum()
}
