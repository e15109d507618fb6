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

use slowburn::device::OpenDevice;

/// The devices whose kernels are those of `src/cube`.
fn cubes() -> Vec<OpenDevice> {
    let mut cubes: Vec<OpenDevice> = Vec::new();
    #[cfg(feature = "wgpu")]
    match slowburn::device::open(slowburn::device::DeviceChoice::Wgpu) {
        Ok(device) => cubes.push(device),
        Err(error) => println!("not tested on wgpu: {error}"),
    }
    #[cfg(feature = "cube-cpu")]
    cubes.push(OpenDevice {
        name: "cube-cpu",
        device: burn::tensor::Device::cpu(),
        adapter: None,
    });
    cubes
}

/// The first of [`cubes`], for tests with many shapes: cubecl's runtime for the CPU takes a second to compile
/// each kernel, of which Burn has some for each.
fn cube() -> Option<OpenDevice> {
    cubes().into_iter().next()
}
