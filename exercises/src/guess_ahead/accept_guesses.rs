//! Accept or replace: what the check of a run of guesses gives.

/// What a text and its KV cache get out of one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The tokens that the text gains.
    pub gained: Vec<u32>,
    /// How many rows of the pass stay in the KV cache, from the first on. The others are truncated.
    pub kept_rows: usize,
}

/// Compares guesses with the tokens that were sampled.
///
/// One pass of the model has read `guesses.len() + 1` tokens: the last token of the text, which was
/// not in the KV cache yet, and the guesses behind it. Each is a row, and leaves a position in the KV
/// cache. `sampled[i]` is the token that the sampler chose from the logits of row `i`, so it comes
/// behind what row `i` has read: `sampled[0]` has the place of `guesses[0]`.
///
/// - A guess is accepted if it is the token that was sampled in its place, and if all guesses before
///   it are accepted.
/// - The text gains the accepted guesses, and one token more: in the place of the first guess that
///   is not accepted, the token that was sampled there. Where all are accepted, the token of the last
///   row, the *bonus* token.
/// - The rows that stay in the KV cache are those whose tokens are in the text: the last token that
///   it had, and the accepted guesses. The one token more has been sampled, and not read.
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
