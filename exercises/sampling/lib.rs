//! The modules of `slowburn` that need no tensors, from the files of the crate itself. The
//! exercises use them under the name `slowburn`, and are checked without compiling Burn.

#![allow(
    dead_code,
    reason = "the rest of the crate uses what nothing here does"
)]

#[path = "../../src/constrained/mod.rs"]
pub mod constrained;
#[path = "../../src/error/mod.rs"]
pub mod error;
#[path = "../../src/outside.rs"]
mod outside;
#[path = "../../src/panics.rs"]
mod panics;
#[path = "../../src/sampling/mod.rs"]
pub mod sampling;

pub use error::{Error, Result};
