//! The CPU kernels, and why their results don't depend on how you call them.
//!
//! One microkernel computes all products, over weights, keys and values that are packed into
//! panels. Each output has its own lane, and its sum always runs in the same order. So a result is
//! bit-identical whatever the other rows, the number of threads or the instruction set.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over rows, panels and vectors, with constant ends: the compiler unrolls them"
)]

mod arena;
mod attention;
mod block;
mod convolution;
mod cpu;
mod delta_rule;
mod disjoint;
mod elementwise;
mod exp;
mod linear;
mod microkernel;
mod number;
mod order;
mod pairs;
mod panels;
mod quantized;
pub(crate) mod recorded;
mod roof;
mod simd;
mod threads;
pub mod trace;

pub use arena::Arena;
pub use attention::{Queries, Scoring, attention};
pub use block::{BLOCK, Block, BlockLayout, KvFormat, LayerLayout};
pub(crate) use convolution::Convolution;
pub use cpu::Cpu;
pub use delta_rule::{DeltaHeads, DeltaRows};
pub use elementwise::{activate, gated, layer_norm, rms_norm, rotate};
pub(crate) use linear::LayersOf;
pub use linear::{Layer, linear};
#[cfg(feature = "cube")]
pub(crate) use microkernel::LANES;
pub use number::Precision;
pub use order::sum_along_k;
pub use panels::{PanelFormat, Panels, StoredMatrix};
pub use quantized::{
    Activations, E2M1_DOUBLED, GROUP, Group, GroupFormat, Quantized, Rounding, quantize,
};
pub use roof::Roof;
pub use simd::Simd;
