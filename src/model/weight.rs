//! A matrix of weights, dense or packed.

use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor, module};

use crate::kernels::{self, Panels};

/// A matrix `[out, in]`.
#[derive(Module, Debug)]
pub enum Weight {
    /// As a tensor, for any device, and for training.
    Dense(Param<Tensor<2>>),
    /// Packed into panels, for the CPU kernels.
    Packed(PackedWeight),
}

/// A matrix in panels, which is not a Burn tensor.
#[derive(Module, Debug)]
pub struct PackedWeight {
    #[module(skip)]
    pub panels: Panels,
}

impl Weight {
    // ANCHOR: rows
    /// An embedding lookup, of the rows of `ids`: `[batch, seq]` -> `[batch, seq, in]`.
    pub fn rows(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        match self {
            Self::Dense(weight) => module::embedding(weight.val(), ids),
            Self::Packed(packed) => kernels::tensor::embedding(&packed.panels, ids),
        }
    }
    // ANCHOR_END: rows
}
