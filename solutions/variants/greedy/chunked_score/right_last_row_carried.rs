//! The last row of a chunk is kept for the next one.

/// The log-probabilities of the token that follows a position: `[vocab]`.
pub type Row = Vec<f32>;

pub fn chunked_score(model: &dyn Fn(&[u32], usize) -> Vec<Row>, ids: &[u32], chunk: usize) -> f64 {
    let mut sum = 0.0;
    let mut before: Option<Row> = None;
    for start in (0..ids.len()).step_by(chunk) {
        let end = (start + chunk).min(ids.len());
        for (row, &id) in model(&ids[..end], end - start).into_iter().zip(&ids[start..end]) {
            sum -= before.map_or(0.0, |before| f64::from(before[id as usize]));
            before = Some(row);
        }
    }
    (sum / (ids.len() - 1) as f64).exp()
}
