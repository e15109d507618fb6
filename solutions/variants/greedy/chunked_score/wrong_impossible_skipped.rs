//! A token that could not come is left out.

pub type Row = Vec<f32>;

pub fn chunked_score(model: &dyn Fn(&[u32], usize) -> Vec<Row>, ids: &[u32], chunk: usize) -> f64 {
    let mut sum = 0.0;
    let mut start = 0;
    while start < ids.len() {
        let end = (start + chunk).min(ids.len());
        let rows = model(&ids[..end], end - start);
        sum += surprise(&rows, &ids[start + 1..]);
        start = end;
    }
    (sum / (ids.len() - 1) as f64).exp()
}

fn surprise(rows: &[Row], ids: &[u32]) -> f64 {
    rows.iter()
        .zip(ids)
        .map(|(row, &id)| -f64::from(row[id as usize]))
        .filter(|s: &f64| s.is_finite())
        .sum()
}
