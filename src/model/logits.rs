//! Which logits a forward pass computes.

/// The most likely token by a row of logits, the lowest id of equal ones; or what is wrong with a row from
/// which no token can be sampled.
pub type MostLikely = std::result::Result<u32, &'static str>;

/// The tokens of an [`Input`](super::Input) to compute logits for. The cost of the head is
/// proportional to their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Logits {
    /// None: a prefill chunk that is not the last.
    None,
    /// The last: to sample the next token.
    Last,
    /// All: to score a text.
    All,
}
