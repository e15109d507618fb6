//! Your own engine: the language model of the book in plain loops, made of [`Parts`]. Each part is
//! the book's until an exercise takes it over.
//!
//! From a text to a text:
//!
//! - [`vocabulary`]: a text to token ids, and what bytes an id stands for
//! - [`weights`]: the folder of a model, read
//! - [`model`]: ids to logits, with [`matrix`] for its products
//! - [`sampler`]: logits to a token
//! - [`output`]: the bytes of tokens to a text for its reader
//! - [`story`]: one text, and [`memory`], its keys and values
//! - [`guesses`]: several of its tokens in one pass
//! - [`constraint`]: only tokens that fit a regular expression
//! - [`units`]: kernels on a loop over the units of a GPU
//! - [`other`]: a model with windows and experts
//!
//! And from several texts to several texts:
//!
//! - [`blocks`] and [`paged`]: who holds which block, and the keys and values in them
//! - [`batch`] and [`sequence`]: what a step computes of which text
//! - [`several`]: four texts in a pool that is too small for them
//! - [`server`] and [`connection`], with [`http`] and [`wire`]: texts for clients
//! - [`served`]: some requests to it, more than it takes
//! - [`router`]: some requests to two of them, and to a third that is gone
//!
//! What is said of them:
//!
//! - [`verdict`]: whether the ids equal the book's, and where they first differ
//! - [`speed`]: how many tokens a second each idea brings
//! - [`noticed`]: which call of a part first gave something else than the book's, and [`shown`] in lines
//!
//! [`parts`] defines what a part must be able to do. [`book`] holds the book's: most are the answers
//! in `solutions/src`, so look there after you have solved the exercise.

// Under these names the mounted answers find this crate, and locks whose orders their own tests try.
extern crate self as your_engine;
extern crate std as shuttle;

pub mod batch;
pub mod blocks;
pub mod book;
pub mod broken;
pub mod connection;
pub mod constraint;
pub mod guesses;
pub mod http;
pub mod matrix;
pub mod memory;
pub mod model;
pub mod noticed;
pub mod other;
pub mod output;
pub mod paged;
pub mod parts;
pub mod program;
pub mod router;
pub mod sampler;
pub mod sequence;
pub mod served;
pub mod server;
pub mod several;
pub mod shown;
pub mod speed;
pub mod story;
pub mod units;
pub mod verdict;
pub mod vocabulary;
pub mod weights;
pub mod wire;

pub use broken::Broken;
pub use parts::Parts;

/// What the files of the crate that `book` mounts find under this name in the crate.
mod error {
    pub use slowburn::error::{RequestError, Result};
}
