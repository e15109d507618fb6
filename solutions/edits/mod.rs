//! The variants of an exercise: wrong answers that its suite must reject, and right ones that it
//! must accept.
//!
//! Most are edits of the answer in `solutions/src`. `solutions/variants/CHAPTER/EXERCISE.toml` has a
//! table for each, which says why it is wrong, or what it does in another way:
//!
//! ```toml
//! [wrong_sum_kept]
//! why = "The sum is not taken from the next number."
//! from = 'sum - next'
//! to = 'sum'
//! [[wrong_sum_kept.and]]
//! from = 'let next = first;'
//! to = ''
//! ```
//!
//! `says = "..."` next to `why` is what the first message that a learner sees must hold.
//!
//! What has little in common with the answer is a separate file, in the folder
//! `solutions/variants/CHAPTER/EXERCISE`, and says in its `//!` what a table says in `why`.

#![allow(
    dead_code,
    unused_imports,
    reason = "each of those who mount this file uses a part of it"
)]

mod edit;
mod variant;

pub use variant::{Variant, variants};
