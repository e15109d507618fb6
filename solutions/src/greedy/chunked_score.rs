//! Bug hunt: a model that is too sure of long texts.
//!
//! Why: the last row of a chunk predicts the first token of the next chunk. But `surprise` got only
//! the ids of the same chunk, so that row had no token, and that token no row. One token at each
//! border brought no surprise at all, and still counted in the division. The rows of the positions
//! from `start` on belong to the ids from `start + 1` on, across the border.
//!
//! What it costs: nothing. The rows were there.
//!
//! A common wrong turn: dividing by the number of tokens that were counted. The task's table comes
//! out right, but the tokens at the borders are still left out, and a text may have its greatest
//! surprise there.

/// The log-probabilities of the token that follows a position: `[vocab]`.
pub type Row = Vec<f32>;

/// The perplexity of the text `ids`, of at least two tokens.
///
/// `model(&ids[..end], count)` gives the log-probabilities, `[vocab]`, of what follows each of the
/// last `count` positions. No more than `chunk` rows are asked for at once.
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

/// The surprise that `ids` brought, in nats: `rows[i]` predicted `ids[i]`. What is left over, on
/// either side, does not count.
fn surprise(rows: &[Row], ids: &[u32]) -> f64 {
    rows.iter().zip(ids).map(|(row, &id)| -f64::from(row[id as usize])).sum()
}
