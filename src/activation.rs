//! The activation functions of the supported model families, for Burn's tensors, the CPU's kernels and the
//! GPUs'.

/// An activation function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Activation {
    /// `x * sigmoid(x)`, also called swish (Elfwing et al., arXiv 1702.03118).
    Silu,
    /// `x * P(X <= x)` for a normal `X` (Hendrycks and Gimpel, arXiv 1606.08415).
    Gelu,
    /// The `tanh` approximation of GELU: close to [`Self::Gelu`], but not equal.
    GeluTanh,
    /// `x * sigmoid(1.702 x)` for an `x` of at most 7. What it gates is clamped to 7 in both directions, and 1
    /// is added to that (gpt-oss).
    ClampedSilu,
    /// `1 / (1 + exp(-x))`: of gates after attention, and of routers.
    Sigmoid,
}

impl Activation {
    /// What [`ClampedSilu`](Self::ClampedSilu) clamps to.
    pub const CLAMP: f32 = 7.0;
    /// What [`ClampedSilu`](Self::ClampedSilu) multiplies by, within the sigmoid.
    pub const SHARPNESS: f32 = 1.702;

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
}
