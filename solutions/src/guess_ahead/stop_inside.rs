//! The end of a text inside a run of accepted guesses.
//!
//! Why: a plain loop asks after every token whether the text ends. A run is several tokens at once,
//! and the same questions are asked in the same order: then the text and the reason are those of
//! the plain loop, whatever was guessed. What comes behind the end was computed for nothing, and is
//! in no count: an acceptance rate that includes it promises a gain that no text had.
//!
//! What it costs: nothing. A run that ends a text is the last one, so at most one run of each text
//! has tokens that are dropped.
//!
//! A common wrong turn: to look for the end-of-sequence token in the whole run first, and to apply
//! `max_tokens` to what is left. Then a text that is full before the token says that the model ended
//! it, where the plain loop says that it was cut.

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

/// What the text takes of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    pub tokens: Vec<u32>,
    /// How many of `tokens` were guessed.
    pub accepted: usize,
    /// `None` where the text goes on.
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
