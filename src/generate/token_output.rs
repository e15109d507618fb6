//! A token with its text, for streaming.

use serde::Serialize;

use crate::sampling::TokenLogprobs;

// ANCHOR: token_output
/// A generated token. The concatenated texts of all tokens are the generated text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TokenOutput {
    /// Its text: whole UTF-8. Empty where a token holds only a part of a character, whose text
    /// comes with a later token, and for the part of a stop string.
    pub token: String,
    /// Its id.
    pub token_id: u32,
    /// Its index among the generated tokens, from 0.
    pub index: usize,
    // ANCHOR_END: token_output
    /// Its log-probability, if requested.
    pub logprob: Option<f32>,
    /// The most likely tokens and their log-probabilities, best first: as many as requested.
    pub top_logprobs: Vec<(u32, f32)>,
}

impl TokenOutput {
    /// A token that is not yet decoded to text.
    pub(crate) fn without_text(index: usize, id: u32, logprobs: Option<TokenLogprobs>) -> Self {
        let logprob = logprobs.as_ref().map(|found| found.logprob);
        let top_logprobs = logprobs.map(|found| found.top).unwrap_or_default();
        Self {
            token: String::new(),
            token_id: id,
            index,
            logprob,
            top_logprobs,
        }
    }
}
