//! Tokens

pub mod detokenize;

#[cfg(test)]
#[path = "../../../exercises/suite/tokens/detokenize.rs"]
mod detokenize_tests;

pub mod learn_merges;

#[cfg(test)]
#[path = "../../../exercises/suite/tokens/learn_merges.rs"]
mod learn_merges_tests;

pub mod merge;

#[cfg(test)]
#[path = "../../../exercises/suite/tokens/merge.rs"]
mod merge_tests;

pub mod swallowed_text;

#[cfg(test)]
#[path = "../../../exercises/suite/tokens/swallowed_text.rs"]
mod swallowed_text_tests;
