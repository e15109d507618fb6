//! How a model that was trained for embeddings makes one vector of a text, as its files say.

#[cfg(feature = "burn")]
pub(super) mod read;

/// How the hidden states of a text become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// Their mean: every token counts the same.
    Mean,
    /// That of the last token, the only one that has seen the whole text.
    Last,
}
