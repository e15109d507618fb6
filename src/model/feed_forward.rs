//! SwiGLU: the part of a block that works on each position alone (Shazeer, arXiv 2002.05202).

use burn::module::Module;
use burn::tensor::{Tensor, activation::silu};

use super::config::ModelConfig;
use super::linear::Linear;
use super::weights::Weights;
use crate::error::Result;

/// `down(silu(gate(x)) * up(x))`: a wide layer in which one half decides how much of the
/// other half passes.
#[derive(Module, Debug)]
pub struct FeedForward {
    gate_proj: Linear,
    up_proj: Linear,
    down_proj: Linear,
}

impl FeedForward {
    pub(super) fn load(weights: &Weights<'_>, name: &str, config: &ModelConfig) -> Result<Self> {
        let (d_model, d_ff) = (config.d_model, config.d_ff);
        Ok(Self {
            gate_proj: Linear::load(weights, &format!("{name}.gate_proj"), d_model, d_ff)?,
            up_proj: Linear::load(weights, &format!("{name}.up_proj"), d_model, d_ff)?,
            down_proj: Linear::load(weights, &format!("{name}.down_proj"), d_ff, d_model)?,
        })
    }

    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let gate = silu(self.gate_proj.forward(x.clone())); // [batch, seq, d_ff]
        let up = self.up_proj.forward(x);
        self.down_proj.forward(gate * up)
    }
}
