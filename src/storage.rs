//! How the weights of a model are stored in memory.

use crate::device::Precision;
use crate::kernels::{Quantized, Rounding};

/// How the weights of a model are stored in memory, whatever type its files hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storage {
    /// The type of keys, values, and all weights that are not quantized.
    pub precision: Precision,
    /// Whether and how weights are quantized. Only the CPU kernels read quantized weights.
    pub quantization: Option<Quantization>,
}

/// How matrices are quantized while they are loaded. Vectors never are: they are small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantization {
    pub format: Quantized,
    pub rounding: Rounding,
    /// Also the embedding matrices and the head, not only the layers between them.
    pub embedding: bool,
}

impl From<Precision> for Storage {
    /// Nothing is quantized.
    fn from(precision: Precision) -> Self {
        Self { precision, quantization: None }
    }
}
