//! What the suites share, and what the suites with tensors share beyond it.

#![allow(unused_imports, reason = "help for suites that are being written")]

#[path = "mod.rs"]
mod plain;

mod allocated;
mod tensors;

pub use allocated::allocated_by;
pub use plain::*;
pub use tensors::{device, floats, mask_rows, tensor};
