//! Activation functions: without one between them, two linear layers are a single one.

use burn::tensor::{Tensor, activation};

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
        match self {
            Self::Silu => activation::silu(x),
            Self::Gelu => activation::gelu(x),
            Self::GeluTanh => activation::gelu_approximate(x),
        }
    }
}
