//! How the weights of a model are stored in memory.

use crate::device::Precision;
use crate::kernels::{Activations, Quantized, Rounding};

/// How the weights of a model are stored in memory, whatever type its files hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storage {
    /// The type of all weights that are not quantized.
    pub precision: Precision,
    /// The format of the matrices of the layers, if they are quantized. Vectors never are: they are
    /// small.
    pub layers: Option<Quantized>,
    /// The format of the embedding matrices and of the head, if they are quantized.
    pub embedding: Option<Quantized>,
    /// How the scales are chosen.
    pub rounding: Rounding,
    /// How the inputs of a layer are multiplied with quantized weights.
    pub activations: Activations,
}

impl Storage {
    /// Whether any weights are quantized. Only the CPU kernels read them.
    pub fn is_quantized(&self) -> bool {
        self.layers.is_some() || self.embedding.is_some()
    }

    /// Whether only the CPU kernels can compute with it.
    pub(crate) fn needs_kernels(&self) -> bool {
        self.is_quantized() || self.activations != Activations::F32
    }
}

impl From<Precision> for Storage {
    /// Nothing is quantized.
    fn from(precision: Precision) -> Self {
        Self {
            precision,
            layers: None,
            embedding: None,
            rounding: Rounding::default(),
            activations: Activations::default(),
        }
    }
}
