//! Writes a story with the exercises that are mounted here. `cargo run -p exercises -- engine` builds
//! and starts it.

// The exercise with a queue takes its locks from here, so that its tests can try many orders of threads.
extern crate std as shuttle;

use std::process::ExitCode;

#[cfg(feature = "tensors")]
#[allow(dead_code, reason = "used by the exercises that are mounted")]
mod tensors;

include!(concat!(env!("OUT_DIR"), "/exercises.rs"));

fn main() -> ExitCode {
    your_engine::program::run(&parts())
}
