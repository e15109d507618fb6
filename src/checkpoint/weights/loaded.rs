//! What has been loaded of a model's weights.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::Role;

#[derive(Default)]
pub(super) struct Loaded {
    /// The memory of the tensors, in bytes.
    pub(super) bytes: usize,
    /// The weights of the matrices, by the name of their format.
    weights_in: BTreeMap<&'static str, usize>,
    /// The formats of the embedding matrices and of the head.
    embeddings_in: BTreeSet<&'static str>,
    /// Whether quantized weights were dequantized, for a device without kernels of this crate.
    pub(super) dequantized: bool,
    /// Whether there are products of the activations with a matrix.
    pub(super) fits_activations: bool,
}

impl Loaded {
    /// Counts a matrix, `[n_out, n_in]`.
    pub(super) fn count_matrix(
        &mut self,
        format: &'static str,
        [n_out, n_in]: [usize; 2],
        role: Role,
    ) {
        *self.weights_in.entry(format).or_default() += n_out * n_in;
        if role == Role::Embedding {
            self.embeddings_in.insert(format);
        }
    }

    /// The formats of matrices, that of most weights first.
    pub(super) fn formats(&self) -> Vec<&'static str> {
        let mut formats: Vec<_> = self.weights_in.iter().collect();
        formats.sort_by_key(|&(_, weights)| Reverse(*weights));
        formats.into_iter().map(|(name, _)| *name).collect()
    }

    pub(super) fn embedding_formats(&self) -> Vec<&'static str> {
        self.embeddings_in.iter().copied().collect()
    }
}
