//! Where a text may end.

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

/// Even under a grammar a text has to end, but only where the grammar lets it. Decide what may come
/// next.
///
/// - `continuing` are the tokens that keep the text inside the grammar, the smallest id first. None
///   of them ends a text.
/// - `accepts` is whether the text matches as it is.
/// - `eos` are the end-of-sequence tokens of the model, in any order. There may be several, or
///   none. They have no text, so only a text that matches may be followed by one.
/// - If no token continues the text, it has ended if it matches. Nothing is sampled then.
///
/// ```text
/// continuing 4 7, accepts, eos 5             Choose [4, 5, 7]
/// continuing 4 7, does not accept, eos 5     Choose [4, 7]
/// continuing -, accepts                      End
/// continuing -, does not accept              Stuck
/// ```
pub fn where_it_ends(continuing: &[u32], accepts: bool, eos: &[u32]) -> NextTokens {
    todo!()
}
