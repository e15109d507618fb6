//! The source of a network's weights.

use burn::module::Param;
use burn::tensor::{DType, Device, Tensor};

use super::weight::Weight;
use crate::error::Result;
use crate::storage::Storage;

/// Supplies the tensors of a network by their names in a Hugging Face checkpoint: from files, or
/// randomly initialized.
pub trait Source {
    /// The matrix called `name`, stored as `[out, in]`.
    ///
    /// # Errors
    /// A tensor that is missing, has another shape, or is stored in a type that is not read.
    fn matrix(&self, name: &str, shape: [usize; 2]) -> Result<Weight>;

    /// The matrix called `name`, with a row for each token or position: an embedding, or the head.
    ///
    /// # Errors
    /// As [`matrix`](Self::matrix).
    fn embedding(&self, name: &str, shape: [usize; 2]) -> Result<Weight>;

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

    /// The first of `prefixes` under which a tensor called `name` exists, or else `prefixes[0]`:
    /// the same model is published with and without the name of its outermost module.
    fn prefix(&self, prefixes: [&'static str; 2], name: &str) -> &'static str;

    /// Whether the weights are randomly initialized, for training.
    fn is_random(&self) -> bool;

    /// The device of the tensors.
    fn device(&self) -> &Device;

    /// The type of all weights that are not quantized.
    fn dtype(&self) -> DType;

    /// The formats of all matrices supplied so far, that of the most weights first.
    fn formats(&self) -> Vec<&'static str>;

    /// The formats of the embedding matrices and of the head, as far as they were supplied, by name.
    fn embedding_formats(&self) -> Vec<&'static str>;

    /// How numbers are stored, where that was asked for.
    fn storage(&self) -> Option<Storage>;

    /// The memory of all tensors supplied so far, in bytes.
    fn bytes(&self) -> usize;
}
