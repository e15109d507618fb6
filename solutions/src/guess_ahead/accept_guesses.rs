//! Accept or replace: what the check of a run of guesses gives.
//!
//! Why: the logits of a row are valid if all that the row and those before it have read is in the
//! text. That ends with the first guess that differs: the row before it is still valid, so its token
//! replaces the guess, and the rows from the guess on have read what is not in the text. So even a
//! pass without an accepted guess gives a token, as a plain step does.
//!
//! What it costs: a comparison for each guess. The rows of the rejected guesses were computed for
//! nothing.
//!
//! A common wrong turn: to keep a row for each token that is gained because they are as many. They
//! are as many, and not the same: the first row is the token that the text had before, and the last
//! token that is gained has no row yet. The next pass begins with it.

/// What a text and its KV cache get out of one pass.
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
