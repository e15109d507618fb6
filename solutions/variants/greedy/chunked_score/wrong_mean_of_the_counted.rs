//! The mean is taken over what was counted; the borders are still left out.

/// The log-probabilities of the token that follows a position: `[vocab]`.
pub type Row = Vec<f32>;

pub fn chunked_score(model: &dyn Fn(&[u32], usize) -> Vec<Row>, ids: &[u32], chunk: usize) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    let mut start = 0;
    while start < ids.len() {
        let end = (start + chunk).min(ids.len());
        let rows = model(&ids[..end], end - start);
        sum += surprise(&rows, &ids[start..end]);
        count += end - start - 1;
        start = end;
    }
    (sum / count as f64).exp()
}

/// The surprise that `ids` brought, in nats. The first of them was foretold by none of `rows`.
fn surprise(rows: &[Row], ids: &[u32]) -> f64 {
    rows.iter().zip(&ids[1..]).map(|(row, &id)| -f64::from(row[id as usize])).sum()
}
