//! The same with the exercises that compute with tensors.

// The exercise with a queue takes its locks from here, so that its tests can try many orders of threads.
extern crate std as shuttle;

use std::process::ExitCode;

#[allow(dead_code, reason = "used by those of the exercises that are mounted")]
mod tensors;

include!(concat!(env!("OUT_DIR"), "/exercises.rs"));

fn main() -> ExitCode {
    your_engine::program::run(&parts())
}
