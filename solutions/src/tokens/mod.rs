//! Tokens

pub mod detokenize;
pub mod learn_merges;
pub mod merge;
pub mod swallowed_text;
