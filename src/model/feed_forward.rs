//! SwiGLU: the feed-forward network of a block, applied to each position (Shazeer, arXiv
//! 2002.05202).

use burn::module::Module;
use burn::tensor::Tensor;

use super::activation::Activation;
use super::config::{LlamaConfig, ModelConfig};
use super::linear::Linear;
use super::source::{LoadLinear, Role, Source, parts};
use crate::error::Result;

/// `down(silu(gate(x)) * up(x))`: the activated gate projection scales the up projection, element
/// by element.
#[derive(Module, Debug)]
pub struct FeedForward<L = Linear> {
    pub(super) gate_proj: L,
    pub(super) up_proj: L,
    pub(super) down_proj: L,
    /// SiLU in all known models of this family, but `config.json` may name another.
    #[module(skip)]
    pub(super) activation: Activation,
}

impl<L: LoadLinear> FeedForward<L> {
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
        d_ff: usize,
    ) -> Result<Self> {
        let whole = llama.fused.then_some("gate_up_proj");
        let [gate, up] = parts(["gate_proj", "up_proj"], [d_ff, d_ff], whole);
        let places = [gate, up, ("down_proj", Role::Layer)];
        let places = places.map(|(part, role)| (format!("{name}.{part}"), role));
        Self::load_from(weights, places, config, d_ff, llama.mlp_bias)
    }

    /// Loads the gate, up and down projections from these tensors.
    pub(super) fn load_from(
        weights: &dyn Source,
        [gate, up, down]: [(String, Role); 3],
        config: &ModelConfig,
        d_ff: usize,
        bias: bool,
    ) -> Result<Self> {
        let d_model = config.d_model;
        let linear =
            |(name, role): (String, Role), shape| L::load(weights, &name, shape, role, bias);
        let mut gate_proj = linear(gate, [d_ff, d_model])?;
        let mut up_proj = linear(up, [d_ff, d_model])?;
        L::join([&mut gate_proj, &mut up_proj]);
        Ok(Self {
            gate_proj,
            up_proj,
            down_proj: linear(down, [d_model, d_ff])?,
            activation: config.activation,
        })
    }
}

impl FeedForward {
    // ANCHOR: feed_forward
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        // activation(gate) * up, [batch, seq, d_ff]
        let gated = self.activation.gated_products([&self.gate_proj, &self.up_proj], x);
        self.down_proj.forward(gated)
    }
    // ANCHOR_END: feed_forward
}
