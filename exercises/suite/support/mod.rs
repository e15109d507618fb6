//! What the suites share: a failure names the rule, what was given, what was expected and what
//! was found.

#![allow(
    dead_code,
    unused_imports,
    reason = "help for suites that are being written"
)]

mod case;
mod in_time;
mod random;
mod short;
mod toy_model;

pub use case::Case;
pub use in_time::in_time;
pub use random::Random;
pub use toy_model::ToyModel;
