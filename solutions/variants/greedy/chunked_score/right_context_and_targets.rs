//! The ids that are read and the ids that are foretold are cut in the same places.

/// The log-probabilities of the token that follows a position: `[vocab]`.
pub type Row = Vec<f32>;

pub fn chunked_score(model: &dyn Fn(&[u32], usize) -> Vec<Row>, ids: &[u32], chunk: usize) -> f64 {
    let (context, targets) = (&ids[..ids.len() - 1], &ids[1..]);
    let mut read = 0;
    let mut sum = 0.0;
    for targets in targets.chunks(chunk) {
        read += targets.len();
        let rows = model(&context[..read], targets.len());
        sum += rows.iter().zip(targets).map(|(row, &id)| f64::from(row[id as usize])).sum::<f64>();
    }
    (-sum / targets.len() as f64).exp()
}
