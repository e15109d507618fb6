//! Vectors to look up: one for each token, or one for each position.

use burn::module::Module;
use burn::tensor::{Int, Tensor};

use super::linear::Linear;
use super::source::Source;
use super::weight::Weight;
use crate::error::Result;

/// One row for each id.
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
        let weight = weights.matrix(&format!("{name}.weight"), [n_ids, d_model])?;
        Ok(Self { weight })
    }

    /// The rows of `ids`: `[batch, seq]` -> `[batch, seq, d_model]`
    pub fn forward(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        self.weight.rows(ids)
    }

    // ANCHOR: tied_head
    /// The same matrix as a head: `[batch, seq, d_model]` -> `[batch, seq, ids]`. It shares the
    /// memory.
    pub fn tied_head(&self) -> Linear {
        Linear { weight: self.weight.clone(), bias: None }
    }
    // ANCHOR_END: tied_head
}
