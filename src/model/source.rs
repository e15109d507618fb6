//! The source of a network's weights.

use std::array;

use burn::module::Param;
use burn::tensor::{DType, Device, Tensor};

use super::linear::Weight;
use crate::error::Result;
use crate::kernels::Panels;
use crate::storage::Storage;

/// What a matrix is to the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A linear layer, stored as `[out, in]`.
    Layer,
    /// The rows from `first` on of a linear layer that is stored with others as one tensor, of `total`
    /// rows.
    Part { first: usize, total: usize },
    /// The rows from `first` on of one of `count` linear layers of `rows` rows that are stored as one tensor,
    /// `[count, rows, in]`.
    OneOf {
        index: usize,
        count: usize,
        first: usize,
        rows: usize,
    },
    /// The linear layer of latent attention from which each of `heads` heads has `plain` numbers of its key, and then
    /// its value. A GGUF file may have a tensor of keys, `[heads, in, plain]`, and one of values, `[heads, out, in]`.
    KeysAndValues { heads: usize, plain: usize },
    /// A half of that of one head: of its key, turned, `[in, plain]`, so that a query meets what keys are made from
    /// (`is_key`), or of its value.
    HalfOfHead {
        is_key: bool,
        head: usize,
        heads: usize,
        plain: usize,
        value_dim: usize,
    },
    /// Columns of one of several linear layers that are stored as one tensor.
    Columns(Columns),
    /// Rows of a linear layer that has those of one head after those of another.
    OfHeads(HeadRows),
    /// The linear layer that chooses experts: it is small, and never quantized.
    Router,
    /// A convolution, which has so many weights for each number, and whose bias is a vector.
    Convolution { width: usize },
    /// A linear layer that a checkpoint may store as `[in, out]`.
    Transposed,
    /// An embedding, with a row for each token or position, or the head.
    Embedding,
}

/// Columns of one of several matrices that are stored as one tensor, `[count, in, step * out]`, or of their
/// vectors, `[count, step * out]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// The number of the matrix.
    pub index: usize,
    pub count: usize,
    /// The first of the columns.
    pub first: usize,
    /// From one of the columns to the next.
    pub step: usize,
}

/// Rows of a matrix that has, head after head, `rows` rows for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadRows {
    pub heads: usize,
    pub rows: usize,
    /// Which rows of a head: where they begin and how many there are. Those of all heads come first, then the next of
    /// all heads.
    pub parts: [(usize, usize); 3],
    /// Whether the matrix is small and never quantized, as a router.
    pub is_router: bool,
}

impl Role {
    /// What the matrix and the bias of a linear layer of this name are called.
    pub(super) fn names(self, layer: &str) -> [String; 2] {
        match self {
            Self::Columns(_) | Self::OneOf { .. } => [layer.to_owned(), format!("{layer}_bias")],
            _ => [format!("{layer}.weight"), format!("{layer}.bias")],
        }
    }
}

/// Where a checkpoint has matrices of so many `rows`: each in a tensor of its own, or, where there is
/// one called `whole`, one after the other in that.
pub(super) fn parts<const N: usize>(
    names: [&'static str; N],
    rows: [usize; N],
    whole: Option<&'static str>,
) -> [(&'static str, Role); N] {
    let total = rows.iter().sum();
    array::from_fn(|i| match whole {
        None => (names[i], Role::Layer),
        Some(whole) => (whole, Role::Part { first: rows[..i].iter().sum(), total }),
    })
}

/// A linear layer. A network has the same parts on all devices, in types of their own: Burn's tensors, or, on the
/// CPU, what its kernels read.
pub trait LoadLinear: Sized {
    /// Loads the matrix, `[out, in]`, and the bias where `bias` is true.
    ///
    /// # Errors
    /// As [`Source::matrix`].
    fn load(
        weights: &dyn Source,
        name: &str,
        shape: [usize; 2],
        role: Role,
        bias: bool,
    ) -> Result<Self>;

    /// Prepares layers that are applied to the same inputs.
    fn join<const N: usize>(_: [&mut Self; N]) {}
}

/// A matrix.
pub trait LoadMatrix: Sized {
    /// # Errors
    /// As [`Source::matrix`].
    fn load(weights: &dyn Source, name: &str, shape: [usize; 2], role: Role) -> Result<Self>;
}

/// A vector that is no bias.
pub trait LoadVector: Sized {
    /// # Errors
    /// As [`Source::vector`].
    fn load(weights: &dyn Source, name: &str, length: usize) -> Result<Self>;

    /// Ones, as `weights` would have them.
    fn ones(weights: &dyn Source, length: usize) -> Self;

    fn times(self, factor: f64) -> Self;

    fn plus_one(self) -> Self;
}

impl LoadMatrix for Weight {
    fn load(weights: &dyn Source, name: &str, shape: [usize; 2], role: Role) -> Result<Self> {
        weights.matrix(name, shape, role)
    }
}

impl LoadMatrix for Panels {
    fn load(weights: &dyn Source, name: &str, shape: [usize; 2], role: Role) -> Result<Self> {
        weights.panels(name, shape, role)
    }
}

impl LoadVector for Param<Tensor<1>> {
    fn load(weights: &dyn Source, name: &str, length: usize) -> Result<Self> {
        weights.vector(name, length, Role::Layer)
    }

    fn ones(weights: &dyn Source, length: usize) -> Self {
        Param::from_tensor(Tensor::ones([length], (weights.device(), weights.dtype())))
    }

    fn times(self, factor: f64) -> Self {
        Param::from_tensor(self.val() * factor)
    }

    fn plus_one(self) -> Self {
        Param::from_tensor(self.val() + 1.0)
    }
}

impl LoadVector for Vec<f32> {
    fn load(weights: &dyn Source, name: &str, length: usize) -> Result<Self> {
        weights.numbers(name, length, Role::Layer)
    }

    fn ones(_: &dyn Source, length: usize) -> Self {
        vec![1.0; length]
    }

    fn times(self, factor: f64) -> Self {
        self.into_iter().map(|number| number * factor as f32).collect()
    }

    fn plus_one(self) -> Self {
        self.into_iter().map(|number| number + 1.0).collect()
    }
}

/// Supplies the tensors of a network by their names in a Hugging Face checkpoint: from files, or
/// randomly initialized.
pub trait Source {
    /// The matrix called `name`, of shape `[out, in]`, on the device.
    ///
    /// # Errors
    /// A tensor that is missing, has another shape, or is stored in a type that is not read.
    fn matrix(&self, name: &str, shape: [usize; 2], role: Role) -> Result<Weight>;

    /// As [`matrix`](Self::matrix), packed for the CPU kernels.
    ///
    /// # Errors
    /// As [`matrix`](Self::matrix).
    fn panels(&self, name: &str, shape: [usize; 2], role: Role) -> Result<Panels>;

    /// The vector called `name`, as a tensor on the device. `role` is that of the matrix that it is the
    /// bias of.
    ///
    /// # Errors
    /// As [`matrix`](Self::matrix).
    fn vector(&self, name: &str, length: usize, role: Role) -> Result<Param<Tensor<1>>>;

    /// As [`vector`](Self::vector), for the CPU kernels: in f32, whatever the type of the matrices.
    /// Vectors are small, and the arithmetic is in f32.
    ///
    /// # Errors
    /// As [`matrix`](Self::matrix).
    fn numbers(&self, name: &str, length: usize, role: Role) -> Result<Vec<f32>>;

    /// Whether files hold a tensor called `name`.
    fn has(&self, name: &str) -> bool;

    /// The first of `prefixes` under which a tensor called `name` exists, or else `prefixes[0]`:
    /// the same model is published with and without the name of its outermost module.
    fn prefix(&self, prefixes: &[&'static str], name: &str) -> &'static str {
        let has = |prefix: &&&str| self.has(&format!("{prefix}{name}"));
        prefixes.iter().find(has).unwrap_or(&prefixes[0])
    }

    /// Whether the head called `head` may share the matrix called `embedding`: there is no such head,
    /// or it has the same numbers. Both have the shape `[out, in]`.
    ///
    /// # Errors
    /// As [`matrix`](Self::matrix).
    fn shares(&self, head: &str, embedding: &str, shape: [usize; 2]) -> Result<bool>;

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
