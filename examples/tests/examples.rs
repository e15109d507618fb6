//! The tests inside the examples: cargo runs none of an example that it also builds as a program.

// Only the tests run here, not `main`.
#![allow(dead_code)]

#[path = "../06_batching/main.rs"]
mod batching;
#[path = "../11_gpus/main.rs"]
mod gpus;
#[path = "../13_guess_ahead/main.rs"]
mod guess_ahead;
#[path = "../10_kernels/main.rs"]
mod kernels;
#[path = "../14_other_models/main.rs"]
mod other_models;
#[cfg(feature = "remote")]
#[path = "../17_remote_device/main.rs"]
mod remote_device;
#[path = "../states/main.rs"]
mod states;
#[path = "../07_streaming/main.rs"]
mod streaming;
