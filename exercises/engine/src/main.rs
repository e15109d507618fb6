//! Writes a story with the exercises that are mounted here. `cargo run -p exercises -- engine` builds
//! and starts it.

use std::process::ExitCode;

include!(concat!(env!("OUT_DIR"), "/exercises.rs"));

fn main() -> ExitCode {
    your_engine::program::run(&parts())
}
