//! 10 Kernels

pub mod roofline;

#[cfg(test)]
#[path = "../../../exercises/suite/kernels/roofline.rs"]
mod roofline_tests;

pub mod microkernel;

#[cfg(test)]
#[path = "../../../exercises/suite/kernels/microkernel.rs"]
mod microkernel_tests;

pub mod online_softmax;

#[cfg(test)]
#[path = "../../../exercises/suite/kernels/online_softmax.rs"]
mod online_softmax_tests;

pub mod merge_spans;

#[cfg(test)]
#[path = "../../../exercises/suite/kernels/merge_spans.rs"]
mod merge_spans_tests;

pub mod two_sums;

#[cfg(test)]
#[path = "../../../exercises/suite/kernels/two_sums.rs"]
mod two_sums_tests;
