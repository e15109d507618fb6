//! Bug hunt: a model that is too sure of long texts.

/// The log-probabilities of the token that follows a position: `[vocab]`.
pub type Row = Vec<f32>;

/// The perplexity of the text `ids`, of at least two tokens: the exponential of the mean surprise
/// that each token brought, except the first, which no row predicts. It is infinite if a token has
/// the probability 0.
///
/// The rows of a long text need much memory: one as long as the vocabulary for each position. So
/// this function asks for them in chunks. `model(&ids[..end], count)` reads a text and gives a row
/// for each of its last `count` positions. A row, `[vocab]`, holds the log-probabilities of the
/// token that follows its position. `chunk` is at least 1, and no more than `chunk` rows may be
/// asked for at once.
///
/// What was observed: texts of up to `chunk` tokens have the right perplexity. For longer ones it
/// is too low, and the smaller the chunks, the surer the model seems. For a text of 7 tokens, each
/// with a probability of 0.25 except the first:
///
/// ```text
/// chunk    expected    found
///   7         4         4
///   4         4         3.17
///   2         4         2
///   1         4         1
/// ```
///
/// A text may be so long that the product of its probabilities is 0 in an `f64`, so the logarithms
/// are added. The result may be off by a hundred-thousandth of its value.
///
/// Find out why, and fix it. A perplexity of 4 for this text is not enough: in other texts some
/// tokens are less likely than others.
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

/// The surprise that `ids` brought, in nats. None of `rows` predicts the first of them.
fn surprise(rows: &[Row], ids: &[u32]) -> f64 {
    rows.iter().zip(&ids[1..]).map(|(row, &id)| -f64::from(row[id as usize])).sum()
}
