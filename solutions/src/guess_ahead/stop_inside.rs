//! The end of a text inside a run of accepted guesses.
//!
//! Why: a plain loop asks after every token whether the text ends. A run is several tokens at once,
//! and you ask the same questions in the same order: then text and reason are the same as in the
//! plain loop, whatever was guessed. Tokens behind the end were computed for nothing, and no count
//! includes them: an acceptance rate that did would promise a gain that no text had.
//!
//! What it costs: nothing. A run that ends a text is the last one, so at most one run of each text
//! has tokens that are dropped.
//!
//! A common wrong turn: looking for the end-of-sequence token in the whole run first, and applying
//! `max_tokens` to what is left. If the text is full before that token, it reports that the model
//! ended it, although it was cut.

/// What ends a text.
#[derive(Debug, Clone)]
pub struct Limits {
    /// The end-of-sequence tokens of the model. There may be several, or none.
    pub eos: Vec<u32>,
    /// The most tokens that are generated.
    pub max_tokens: usize,
}

/// Why a text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// An end-of-sequence token came.
    Eos,
    /// `max_tokens` are generated.
    Length,
}

/// The part of a run that the text takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    pub tokens: Vec<u32>,
    /// How many of `tokens` were guessed.
    pub accepted: usize,
    /// `None` if the text goes on.
    pub finish: Option<FinishReason>,
}

/// Decides which tokens of a run the text takes, as the plain loop would decide it token by token.
/// All tokens of the run but the last were guessed.
pub fn stop_inside(run: &[u32], generated: usize, limits: &Limits) -> Taken {
    let mut tokens = Vec::new();
    let mut finish = None;
    for token in run {
        if limits.eos.contains(token) {
            finish = Some(FinishReason::Eos);
            break;
        }
        tokens.push(*token);
        if generated + tokens.len() == limits.max_tokens {
            finish = Some(FinishReason::Length);
            break;
        }
    }
    let accepted = tokens.len().min(run.len() - 1);
    Taken { tokens, accepted, finish }
}
