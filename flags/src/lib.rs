//! The flags that say which model, and where it is computed: those of every program with a model.
//! [`SpeculateArgs`] are those of the programs that can guess ahead.
//!
//! [`ModelArgs`] is flattened into the flags of a program, and [`ModelArgs::load`] does what they
//! say.

mod error;
mod model_args;
mod model_source;
mod speculate_args;
mod text;
mod values;

pub use error::{Error, Result};
pub use model_args::{ModelArgs, SimdChoice};
pub use model_source::ModelSource;
pub use speculate_args::{SpeculateArgs, SpeculateChoice};
pub use text::{bytes, note};
pub use values::precision;
