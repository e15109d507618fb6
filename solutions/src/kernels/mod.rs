//! 10 Kernels

pub mod merge_spans;
pub mod microkernel;
pub mod online_softmax;
pub mod roofline;
pub mod two_sums;
