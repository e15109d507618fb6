//! Your own engine: the language model of the book in plain loops, made of [`Parts`]. Each part is
//! the book's until an exercise takes it over.
//!
//! From a text to a text, in the order of the modules:
//!
//! - [`vocabulary`]: a text to token ids, and what bytes an id stands for
//! - [`weights`]: the folder of a model, read
//! - [`model`]: ids to logits
//! - [`story`]: the loop around the model, the sampler, and the stream to the reader
//! - [`verdict`]: whether the ids are those of the book, and where they first differ
//! - [`noticed`]: which call of a part first gave something else than the book's
//!
//! [`parts`] says what a part must be able to do. [`book`] holds those of the book: most are what an
//! exercise asks for, so look there after you have solved it.

pub mod book;
pub mod broken;
pub mod model;
pub mod noticed;
pub mod parts;
pub mod program;
pub mod story;
pub mod verdict;
pub mod vocabulary;
pub mod weights;

pub use broken::Broken;
pub use parts::Parts;

/// What the files of the crate that `book` mounts find under this name in the crate.
mod error {
    pub use slowburn::error::{RequestError, Result};
}
