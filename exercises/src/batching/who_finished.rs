//! Finished sequences leave the batch.

/// One text that is being generated.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    pub name: char,
    /// The tokens generated so far.
    pub output: Vec<u32>,
    /// How many tokens it may have, at least 1.
    pub max_tokens: usize,
}

/// Why a text has ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// The model chose the end-of-sequence token.
    Eos,
    /// It has as many tokens as were asked for.
    Length,
}

/// A sequence that has ended and stays in the batch is computed for nobody. So after each pass,
/// give every running sequence its token, and take out the sequences that have ended.
///
/// `chosen` has one token for each running sequence: `chosen[i]` is for `running[i]`.
///
/// - `eos` ends a text and is no part of it: don't append it.
/// - Any other token is appended. With `max_tokens` tokens the text has ended.
/// - A text whose `eos` comes when one more token was allowed ends with [`Reason::Eos`].
///
/// Afterwards `running` holds the sequences that go on, in their old order: the next pass computes
/// rows only for them. Return the sequences that have ended, in the same order, with the reason.
///
/// ```text
/// eos is 0
/// running  a: [5], max 3    b: [6], max 2    c: [], max 9    d: [7, 7], max 9
/// chosen   8                8                0               4
///
/// running  a: [5, 8]    d: [7, 7, 4]
/// returns  b: [6, 8], Length    c: [], Eos
/// ```
pub fn take_step(running: &mut Vec<Sequence>, chosen: &[u32], eos: u32) -> Vec<(Sequence, Reason)> {
    todo!()
}
