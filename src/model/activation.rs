//! Activation functions: without one between them, two linear layers are a single one.

use burn::tensor::{Tensor, activation};

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
}
