//! Embeddings: a vector for each token, or for each position.

use burn::module::Module;
use burn::tensor::{Int, Tensor, module};

use super::linear::{Linear, Weight};
use super::source::{LoadMatrix, Role, Source};
use crate::error::Result;

/// An embedding matrix, with one row for each id.
#[derive(Module, Debug)]
pub struct Embedding<M = Weight> {
    /// `[ids, d_model]`
    pub weight: M,
}

impl<M: LoadMatrix> Embedding<M> {
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        n_ids: usize,
        d_model: usize,
    ) -> Result<Self> {
        let name = format!("{name}.weight");
        Ok(Self {
            weight: M::load(weights, &name, [n_ids, d_model], Role::Embedding)?,
        })
    }
}

impl Embedding {
    /// Looks up the rows of `ids`: `[batch, seq]` -> `[batch, seq, d_model]`
    pub fn forward(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        match &self.weight {
            Weight::Dense(weight) => module::embedding(weight.val(), ids),
            #[cfg(feature = "cube")]
            Weight::Panels(panels) => panels.rows(ids),
        }
    }

    /// The head that shares this matrix (weight tying): `[batch, seq, d_model]` ->
    /// `[batch, seq, ids]`.
    pub fn tied_head(&self) -> Linear {
        Linear { weight: self.weight.clone(), bias: None }
    }
}
