//! Embeddings: a vector for each token, or for each position.

use burn::module::Module;
use burn::tensor::{Int, Tensor};

use super::linear::Linear;
use super::source::Source;
use super::weight::Weight;
use crate::error::Result;

/// An embedding matrix, with one row for each id.
#[derive(Module, Debug)]
pub struct Embedding {
    /// `[ids, d_model]`
    pub weight: Weight,
}

impl Embedding {
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        n_ids: usize,
        d_model: usize,
    ) -> Result<Self> {
        let weight = weights.embedding(&format!("{name}.weight"), [n_ids, d_model])?;
        Ok(Self { weight })
    }

    /// Looks up the rows of `ids`: `[batch, seq]` -> `[batch, seq, d_model]`
    pub fn forward(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        self.weight.rows(ids)
    }

    // ANCHOR: tied_head
    /// The head that shares this matrix (weight tying): `[batch, seq, d_model]` ->
    /// `[batch, seq, ids]`.
    pub fn tied_head(&self) -> Linear {
        Linear { weight: self.weight.clone(), bias: None }
    }
    // ANCHOR_END: tied_head
}
