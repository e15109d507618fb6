//! Activation functions. Without one between them, two linear layers would collapse into a single one.

use burn::tensor::{Tensor, activation};

use super::linear::Linear;
#[cfg(feature = "cube")]
use crate::{cube::gate as on_gpu, device::has_cubes, model::device_panels::DevicePanels};

pub use crate::activation::Activation;

impl Activation {
    /// Elementwise: `[batch, seq, d_ff]` -> the same shape.
    pub fn forward(self, x: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Silu => activation::silu(x),
            Self::Gelu => activation::gelu(x),
            Self::GeluTanh => activation::gelu_approximate(x),
            Self::ClampedSilu => {
                let x = x.clamp_max(Self::CLAMP);
                x.clone() * activation::sigmoid(x * Self::SHARPNESS)
            }
            Self::Sigmoid => activation::sigmoid(x),
        }
    }

    /// As [`gated`](Self::gated), of the products of both layers with `x`, `[batch, seq, in]`: on some GPUs in one
    /// launch.
    pub(super) fn gated_products(self, linears: [&Linear; 2], x: Tensor<3>) -> Tensor<3> {
        #[cfg(feature = "cube")]
        if let Some(gated) = DevicePanels::gated(linears, &x, self) {
            return gated;
        }
        let [gate, up] = Linear::each(linears, x);
        self.gated(gate, up)
    }

    /// `activation(gate) * up`, elementwise, with an `up` that is clamped first where the gate is: all
    /// `[batch, seq, d_ff]`. On a GPU in one launch.
    pub(super) fn gated(self, gate: Tensor<3>, up: Tensor<3>) -> Tensor<3> {
        #[cfg(feature = "cube")]
        if has_cubes(&gate.device()) {
            return on_gpu::gated(gate, up, self);
        }
        let up = match self {
            Self::ClampedSilu => up.clamp(-Self::CLAMP, Self::CLAMP) + 1.0,
            _ => up,
        };
        self.forward(gate) * up
    }
}
