//! What the numbered examples share: flags and reports ([`cli`]), and charts (`chart`, with the
//! feature `plot`). How a model is computed is in the library.

#[cfg(feature = "plot")]
pub mod chart;
pub mod cli;
#[cfg(test)]
#[path = "../../tests/common/foreign_words.rs"]
mod foreign_words;
#[cfg(test)]
mod plain_line;
