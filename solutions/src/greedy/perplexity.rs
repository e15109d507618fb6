//! How sure a model was of a text.
//!
//! Why: row `i` predicts the token that follows position `i`, so `rows[0]` belongs to `ids[1]`, and
//! the last row to no token at all. `zip` with the ids from the second on pairs them, and drops the
//! last row by itself. You add logarithms, because the product of the probabilities would be 0
//! after some hundred tokens.
//!
//! What it costs: one number of each row. The expensive part is the rows: every position goes
//! through the head.
//!
//! A common wrong turn: pairing `rows[i]` with `ids[i]`. That asks how likely a token is after
//! itself, and gives a number that looks like a perplexity, only greater.

/// The perplexity of the text `ids`, `[seq]`, or `None` if it has fewer than two tokens.
///
/// `rows[i]`, `[vocab]`, holds the log-probabilities of the token that follows position `i`.
pub fn perplexity(ids: &[u32], rows: &[Vec<f32>]) -> Option<f64> {
    let foretold = ids.iter().skip(1);
    let surprises = rows.iter().zip(foretold).map(|(row, &id)| -f64::from(row[id as usize]));
    let count = ids.len().checked_sub(1).filter(|&count| count > 0)?;
    Some((surprises.sum::<f64>() / count as f64).exp())
}
