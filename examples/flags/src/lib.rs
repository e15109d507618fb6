//! The flags that say which model, and where it is computed: those of every program with a model.
//! [`SpeculateArgs`] are those of the programs that can guess ahead, [`ConstraintArgs`] those of the
//! programs that can keep a text inside a grammar.
//!
//! [`ModelArgs`] is flattened into the flags of a program, and [`ModelArgs::load`] does what they
//! say.

mod adapter_args;
mod constraint_args;
mod error;
mod model_args;
mod model_source;
mod numbers;
mod speculate_args;
mod text;
mod values;
mod wrap;

pub use adapter_args::{AdapterArgs, AdapterChoice, NamedFolder};
pub use constraint_args::ConstraintArgs;
pub use error::{Error, Result};
pub use model_args::{ModelArgs, SimdChoice};
pub use model_source::{Bundled, ModelSource};
pub use numbers::{memory, number, whole};
pub use speculate_args::{SpeculateArgs, SpeculateChoice};
pub use text::{bytes, note};
pub use values::{DEVICE_TOKEN, Dtype, precision};
pub use wrap::{WIDTH, Wrapper, terminal_width, wrap};
