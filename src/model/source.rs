//! Where a network takes its numbers from.

use burn::module::Param;
use burn::tensor::{DType, Device, Tensor};

use super::weight::Weight;
use crate::error::Result;

/// Hands out the tensors of a network by their names in a Hugging Face checkpoint: from files, or
/// as a random start.
pub trait Source {
    /// The matrix called `name`, stored as `[out, in]`.
    ///
    /// # Errors
    /// A tensor that is missing, has another shape, or is not stored as f32, f16 or bf16.
    fn matrix(&self, name: &str, shape: [usize; 2]) -> Result<Weight>;

    /// The matrix called `name`, of shape `[out, in]` but stored as `[in, out]`.
    ///
    /// # Errors
    /// As [`matrix`](Self::matrix).
    fn transposed(&self, name: &str, shape: [usize; 2]) -> Result<Weight>;

    /// The vector called `name`.
    ///
    /// # Errors
    /// As [`matrix`](Self::matrix).
    fn vector(&self, name: &str, length: usize) -> Result<Param<Tensor<1>>>;

    /// The first of `prefixes` under which there is a tensor called `name`, or else the first
    /// of all: the same model is published with and without the name of its outermost part.
    fn prefix(&self, prefixes: [&'static str; 2], name: &str) -> &'static str;

    /// Whether the numbers are a random start, from which any network can be trained.
    fn is_random(&self) -> bool;

    /// Where the tensors are put.
    fn device(&self) -> &Device;

    /// What matrices are stored as.
    fn dtype(&self) -> DType;

    /// The memory of all tensors that were handed out.
    fn bytes(&self) -> usize;
}
