//! Vectors to look up: one for each token, or one for each position.

use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor, module};

use super::weights::Weights;
use crate::error::Result;

/// One row for each id.
#[derive(Module, Debug)]
pub struct Embedding {
    /// `[ids, d_model]`
    pub weight: Param<Tensor<2>>,
}

impl Embedding {
    pub(super) fn load(
        weights: &Weights<'_>,
        name: &str,
        n_ids: usize,
        d_model: usize,
    ) -> Result<Self> {
        let weight = weights.tensor(&format!("{name}.weight"), [n_ids, d_model])?;
        Ok(Self { weight })
    }

    // ANCHOR: forward
    /// The rows of `ids`: `[batch, seq]` -> `[batch, seq, d_model]`
    pub fn forward(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        module::embedding(self.weight.val(), ids)
    }
    // ANCHOR_END: forward
}
