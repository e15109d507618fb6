//! Embeddings: a vector for each token, or for each position.

use burn::module::Module;
use burn::tensor::{Int, Tensor, module};

use super::linear::{Linear, Weight};
use super::source::{Role, Source};
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
        let weight =
            weights.matrix(&format!("{name}.weight"), [n_ids, d_model], Role::Embedding)?;
        Ok(Self { weight })
    }

    // ANCHOR: forward
    /// Looks up the rows of `ids`: `[batch, seq]` -> `[batch, seq, d_model]`
    pub fn forward(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        match &self.weight {
            Weight::Dense(weight) => module::embedding(weight.val(), ids),
            #[cfg(feature = "cube")]
            Weight::Panels(panels) => panels.rows(ids),
        }
    }
    // ANCHOR_END: forward

    // ANCHOR: tied_head
    /// The head that shares this matrix (weight tying): `[batch, seq, d_model]` ->
    /// `[batch, seq, ids]`.
    pub fn tied_head(&self) -> Linear {
        Linear { weight: self.weight.clone(), bias: None }
    }
    // ANCHOR_END: tied_head
}
