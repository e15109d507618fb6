//! The CPU kernels.
//!
//! One microkernel computes all products, over weights, keys and values that are packed into
//! panels. Each output is summed in one order, in a lane of its own, so the bits of a result depend
//! only on its inputs: not on the other rows, the threads or the instruction set.

#![allow(
    clippy::needless_range_loop,
    reason = "loops over rows, panels and vectors, with constant ends: the compiler unrolls them"
)]

mod arena;
mod attention;
mod block;
mod cpu;
mod disjoint;
mod elementwise;
mod exp;
mod linear;
mod microkernel;
mod number;
mod order;
mod panels;
mod quantized;
pub(crate) mod recorded;
mod roof;
mod simd;
mod threads;
pub mod trace;

pub use arena::Arena;
pub use attention::{Queries, Scoring, attention};
pub use block::{BLOCK, Block, BlockLayout, KvFormat};
pub use cpu::Cpu;
pub use elementwise::{Bend, bend, bend_times, layer_norm, rms_norm, rotate};
pub use linear::{Layer, linear};
#[cfg(feature = "cube")]
pub(crate) use microkernel::LANES;
pub use number::Format;
pub use order::sum_along_k;
pub use panels::{PanelFormat, Panels, StoredGroups, StoredMatrix};
pub use quantized::{Activations, GROUP, Group, GroupFormat, Quantized, Rounding, quantize};
pub use roof::Roof;
pub use simd::Simd;
