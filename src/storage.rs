//! How a model's weights are stored in memory: as f32, f16 or bf16, or quantized.

pub use crate::kernels::Precision;
use crate::kernels::{Activations, Quantized, Rounding};

/// How the weights of a model are stored in memory, whatever type its files hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storage {
    /// The type of all weights that are not quantized.
    pub precision: Precision,
    /// The format of the matrices of the layers, if they are quantized. Vectors never are: they are
    /// small.
    pub layers: Option<Quantized>,
    /// The format of the embedding matrices and of the head. Without one, it is int8 where the
    /// layers are quantized, and [`precision`](Self::precision) otherwise; what a file has in
    /// quantized blocks stays as it is.
    pub embedding: Option<MatrixFormat>,
    /// How the scales are chosen.
    pub rounding: Rounding,
    /// How the inputs of a layer are multiplied with its weights.
    pub activations: Activations,
}

/// What the weights of a matrix are stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixFormat {
    /// Each as a number.
    Dense(Precision),
    /// As integers, in groups that share a scale.
    Quantized(Quantized),
}

impl Storage {
    /// Whether any weights are quantized. Only the kernels of this crate read them.
    pub fn is_quantized(&self) -> bool {
        self.layers.is_some() || matches!(self.embedding, Some(MatrixFormat::Quantized(_)))
    }

    /// Whether only the kernels of this crate can compute with it.
    pub(crate) fn needs_kernels(&self) -> bool {
        // Burn's tensors are multiplied with others of their type.
        let other = |format| format != MatrixFormat::Dense(self.precision);
        self.layers.is_some()
            || self.embedding.is_some_and(other)
            || self.activations != Activations::F32
    }

    /// The format of the embedding matrices and of the head, or none for that of the file's
    /// quantized blocks, if it `has_blocks`, and for the precision of all others.
    ///
    /// The head is read whole in each step, so f32 would cost as much as layers of four times its
    /// size in int8. It is what the logits come from, so it has more bits than layers in int4.
    pub(crate) fn embedding_format(&self, has_blocks: bool) -> Option<MatrixFormat> {
        let int8 = MatrixFormat::Quantized(Quantized::Int8);
        let by_default = (self.layers.is_some() && !has_blocks).then_some(int8);
        self.embedding.or(by_default)
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
