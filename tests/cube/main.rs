//! What runs on GPUs: the numbers of transformers within a tolerance, and the same answer whatever else
//! is computed, with blocks that are shared, taken away and given back.
//!
//! It runs on the devices of Burn's `Cube` backend that are compiled in and work on this machine: Vulkan in
//! software and cubecl's runtime for the CPU are enough. Both are slow, so the models are small.

#![cfg(feature = "cube")]

#[path = "../common/mod.rs"]
mod common;

mod blocks;
mod engine;
mod parity;

use common::cubes;
use slowburn::device::OpenDevice;

/// The first of [`cubes`], for tests with many shapes: cubecl's runtime for the CPU takes a second to compile
/// each kernel, of which Burn has some for each.
fn cube() -> Option<OpenDevice> {
    cubes().into_iter().next()
}

/// As [`cube`], where the bits of a row depend on its own sequence only.
fn invariant() -> Option<OpenDevice> {
    cube().map(|device| OpenDevice { batch_invariant: true, ..device })
}
