//! A token at a border is given the mean surprise of its chunk.

/// The log-probabilities of the token that follows a position: `[vocab]`.
pub type Row = Vec<f32>;

pub fn chunked_score(model: &dyn Fn(&[u32], usize) -> Vec<Row>, ids: &[u32], chunk: usize) -> f64 {
    let mut sum = 0.0;
    let mut start = 0;
    while start < ids.len() {
        let end = (start + chunk).min(ids.len());
        let rows = model(&ids[..end], end - start);
        let counted = surprise(&rows, &ids[start..end]);
        let count = (end - start - 1).max(1) as f64;
        sum += if end < ids.len() {
            counted * (count + 1.0) / count
        } else {
            counted
        };
        start = end;
    }
    (sum / (ids.len() - 1) as f64).exp()
}

/// The surprise that `ids` brought, in nats. The first of them was foretold by none of `rows`.
fn surprise(rows: &[Row], ids: &[u32]) -> f64 {
    rows.iter().zip(&ids[1..]).map(|(row, &id)| -f64::from(row[id as usize])).sum()
}
