//! Tokens

mod detokenize;

#[path = "../../suite/tokens/detokenize.rs"]
mod detokenize_tests;

mod learn_merges;

#[path = "../../suite/tokens/learn_merges.rs"]
mod learn_merges_tests;

mod merge;

#[path = "../../suite/tokens/merge.rs"]
mod merge_tests;

mod swallowed_text;

#[path = "../../suite/tokens/swallowed_text.rs"]
mod swallowed_text_tests;
