//! Activation functions: without one between them, two linear layers are a single one.

use burn::tensor::{Tensor, activation};

use crate::kernels::{self, Bend};

/// The activation functions of the supported model families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `x * sigmoid(x)`, also called swish (Elfwing et al., arXiv 1702.03118).
    Silu,
    /// `x * P(X <= x)` for a normal `X` (Hendrycks and Gimpel, arXiv 1606.08415).
    Gelu,
    /// The `tanh` approximation of GELU: close to [`Self::Gelu`], but not equal.
    GeluTanh,
}

impl Activation {
    /// The names that [`from_name`](Self::from_name) accepts.
    pub const NAMES: &'static str = "`silu`, `gelu`, `gelu_new` or `gelu_pytorch_tanh`";

    /// The activation function with this name in `config.json`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "silu" | "swish" => Some(Self::Silu),
            "gelu" => Some(Self::Gelu),
            "gelu_new" | "gelu_pytorch_tanh" => Some(Self::GeluTanh),
            _ => None,
        }
    }

    /// Elementwise: `[batch, seq, d_ff]` -> the same shape.
    pub fn forward(self, x: Tensor<3>) -> Tensor<3> {
        if kernels::serve(&x.device()) {
            return kernels::tensor::bend(x, self.kernel());
        }
        match self {
            Self::Silu => activation::silu(x),
            Self::Gelu => activation::gelu(x),
            Self::GeluTanh => activation::gelu_approximate(x),
        }
    }

    /// `forward(gate) * up`, all `[batch, seq, d_ff]`.
    pub fn gated(self, gate: Tensor<3>, up: Tensor<3>) -> Tensor<3> {
        if kernels::serve(&gate.device()) {
            return kernels::tensor::bend_times(gate, up, self.kernel());
        }
        self.forward(gate) * up
    }

    fn kernel(self) -> Bend {
        match self {
            Self::Silu => Bend::Silu,
            Self::Gelu => Bend::Gelu,
            Self::GeluTanh => Bend::GeluTanh,
        }
    }
}
