//! The end of a text inside a run of accepted guesses.

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

/// A pass gives several tokens, and the text may end in the middle of them. Decide which tokens of
/// a run the text takes, as the plain loop would decide it token by token.
///
/// - `run` is the result of one pass, at least one token: the accepted guesses, and as its last
///   token the replacement or the bonus token, which was not guessed.
/// - `generated` tokens were generated before, fewer than `max_tokens`.
/// - For each token in turn: if it is an end-of-sequence token, the text ends with `Eos`, and the
///   token is not a part of it. Otherwise the text takes it, and if that makes `max_tokens`, it
///   ends with `Length`. Anything behind the end is dropped unseen.
/// - A guess that is dropped does not count as accepted. An end-of-sequence token doesn't either.
///
/// ```text
/// run 5 6 2 7, where 7 was not guessed; eos 2; 10 generated
///
/// max_tokens 20     takes 5 6     2 accepted, Eos
/// max_tokens 12     takes 5 6     2 accepted, Length     the text is full before the 2 is looked at
/// max_tokens 11     takes 5       1 accepted, Length
/// eos 9, max 20     takes all     3 accepted, None
/// ```
pub fn stop_inside(run: &[u32], generated: usize, limits: &Limits) -> Taken {
    todo!()
}
