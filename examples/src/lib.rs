//! What the numbered examples share: flags and reports ([`cli`]), and charts (`chart`, with the
//! feature `plot`). How a model is computed is in the library.

#[cfg(feature = "plot")]
pub mod chart;
pub mod cli;
#[cfg(test)]
mod plain_line;
