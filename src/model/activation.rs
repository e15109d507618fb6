//! Activation functions: without one between them, two linear layers are a single one.

use burn::tensor::{Tensor, activation};

#[cfg(feature = "cube")]
use crate::{cube::gate as on_gpu, device::has_cubes};

pub use super::config::Activation;

impl Activation {
    /// Elementwise: `[batch, seq, d_ff]` -> the same shape.
    pub fn forward(self, x: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Silu => activation::silu(x),
            Self::Gelu => activation::gelu(x),
            Self::GeluTanh => activation::gelu_approximate(x),
        }
    }

    /// `activation(gate) * up`, elementwise: all `[batch, seq, d_ff]`. On a GPU in one launch.
    pub(super) fn gated(self, gate: Tensor<3>, up: Tensor<3>) -> Tensor<3> {
        #[cfg(feature = "cube")]
        if has_cubes(&gate.device()) {
            return on_gpu::gated(gate, up, self);
        }
        self.forward(gate) * up
    }
}
