//! Accept or replace: what the check of a run of guesses gives.
//!
//! Why: the logits of a row are valid if everything that the row and the rows before it have read
//! is in the text. That ends with the first guess that differs: the row before it is still valid,
//! so its token replaces the guess, but the rows from the guess on have read a token that is not in
//! the text. So even a pass without an accepted guess gives a token, as a plain step does.
//!
//! What it costs: a comparison for each guess. The rows of the rejected guesses were computed for
//! nothing.
//!
//! A common wrong turn: keeping one row more, because the replacement stands in place of the guess.
//! That row holds the keys and values of the rejected guess. The replacement has been sampled, but
//! not read: the next pass begins with it.

/// What one pass leaves in a text and its KV cache.
#[derive(Debug, Clone, PartialEq)]
pub struct Checked {
    /// The tokens that the text gains.
    pub gained: Vec<u32>,
    /// How many rows of the pass stay in the KV cache, from the first on. The others are truncated.
    pub kept_rows: usize,
}

/// Compares guesses with the tokens that were sampled, one more than there are guesses.
pub fn accept_guesses(guesses: &[u32], sampled: &[u32]) -> Checked {
    let pairs = guesses.iter().zip(sampled);
    let accepted = pairs.take_while(|(guess, token)| guess == token).count();
    Checked {
        gained: sampled[..=accepted].to_vec(),
        kept_rows: accepted + 1,
    }
}
