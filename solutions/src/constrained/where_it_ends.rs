//! Where a text may end: the end-of-sequence token is allowed where the text matches, and nowhere
//! else.
//!
//! Why: it has no bytes, so no automaton over bytes can read it. If the text matches and could also
//! go on, the model decides. If it can't go on, there is nothing to decide: you save the last pass
//! of the model, and a model without such a token can end, too.
//!
//! What it costs: nothing.
//!
//! A common wrong turn: allowing it always. The text then ends in the middle of a word, wherever
//! the model sees nothing better among what is left.

/// What may come next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextTokens {
    /// One of these tokens, the smallest id first.
    Choose(Vec<u32>),
    /// Nothing: the text is complete.
    End,
    /// Nothing, and the text is not complete.
    Stuck,
}

/// Decides what may come next.
pub fn where_it_ends(continuing: &[u32], accepts: bool, eos: &[u32]) -> NextTokens {
    match (continuing.is_empty(), accepts) {
        (true, true) => NextTokens::End,
        (true, false) => NextTokens::Stuck,
        (false, false) => NextTokens::Choose(continuing.to_vec()),
        (false, true) => {
            let mut allowed = [continuing, eos].concat();
            allowed.sort_unstable();
            NextTokens::Choose(allowed)
        }
    }
}
