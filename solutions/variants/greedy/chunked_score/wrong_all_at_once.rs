//! All rows are asked for at once.

/// The log-probabilities of the token that follows a position: `[vocab]`.
pub type Row = Vec<f32>;

pub fn chunked_score(model: &dyn Fn(&[u32], usize) -> Vec<Row>, ids: &[u32], chunk: usize) -> f64 {
    let rows = model(ids, ids.len().max(chunk.min(1)));
    (surprise(&rows, ids) / (ids.len() - 1) as f64).exp()
}

/// The surprise that `ids` brought, in nats. The first of them was foretold by none of `rows`.
fn surprise(rows: &[Row], ids: &[u32]) -> f64 {
    rows.iter().zip(&ids[1..]).map(|(row, &id)| -f64::from(row[id as usize])).sum()
}
