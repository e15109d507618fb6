//! The probabilities are multiplied, and the root comes last: 0 for a long text.

/// The log-probabilities of the token that follows a position: `[vocab]`.
pub type Row = Vec<f32>;

pub fn chunked_score(model: &dyn Fn(&[u32], usize) -> Vec<Row>, ids: &[u32], chunk: usize) -> f64 {
    let mut sum = 0.0;
    let mut start = 0;
    while start + 1 < ids.len() {
        let end = start.saturating_add(chunk).min(ids.len());
        let rows = model(&ids[..end], end - start);
        sum += surprise(&rows, &ids[start..(end + 1).min(ids.len())]);
        start = end;
    }
    (-sum).exp().powf(-1.0 / (ids.len() - 1) as f64)
}

/// The surprise that `ids` brought, in nats. The first of them was foretold by none of `rows`.
fn surprise(rows: &[Row], ids: &[u32]) -> f64 {
    rows.iter().zip(&ids[1..]).map(|(row, &id)| -f64::from(row[id as usize])).sum()
}
