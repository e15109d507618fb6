//! Accept or replace: what the check of a run of guesses gives.

/// What one pass leaves in a text and its KV cache.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The tokens that the text gains.
    pub gained: Vec<u32>,
    /// How many rows of the pass stay in the KV cache, from the first on. The others are truncated.
    pub kept_rows: usize,
}

/// A pass has checked several guesses at once. Which of them may the text keep? Compare them with
/// the tokens that were sampled.
///
/// The pass has read `guesses.len() + 1` tokens: the last token of the text, which was not in the
/// KV cache yet, and the guesses behind it. Each is a row, and leaves a position in the KV cache.
/// `sampled[i]` is the token that the sampler chose from the logits of row `i`, so it follows what
/// row `i` has read: `sampled[0]` competes with `guesses[0]`.
///
/// - A guess is accepted if it equals the token that was sampled in its place, and all guesses
///   before it are accepted.
/// - The text gains the accepted guesses and one more token: in place of the first guess that is
///   not accepted, the token that was sampled there. If all are accepted, it is the token of the
///   last row, the *bonus* token.
/// - In the KV cache, keep the rows whose tokens are in the text: its old last token, and the
///   accepted guesses. The one token more has been sampled, but not read.
///
/// ```text
/// guesses  8 3 5         rows: the last token, 8, 3, 5
///
/// sampled  8 3 6 1       gained 8 3 6       6 replaces 5; the row of the 1 has read the rejected 5
///                        3 rows are kept    the last token, 8, 3
///
/// sampled  8 3 5 1       gained 8 3 5 1     1 is the bonus token
///                        4 rows are kept    the last token, 8, 3, 5
/// ```
pub fn accept_guesses(guesses: &[u32], sampled: &[u32]) -> Checked {
    todo!()
}
