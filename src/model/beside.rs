//! A feed-forward network, and experts beside it: both read the same hidden states, each after norms of its own
//! (Gemma 4).

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use super::config::{self, LlamaConfig, ModelConfig};
use super::experts::Experts;
use super::feed_forward::FeedForward;
use super::linear::Linear;
use super::norm::RmsNorm;
use super::source::{LoadLinear, LoadVector, Source};
use crate::error::Result;

/// A feed-forward network with experts beside it.
#[derive(Module, Debug)]
pub struct Beside<L = Linear, V = Param<Tensor<1>>> {
    pub(super) dense: FeedForward<L>,
    pub(super) experts: Experts<L, V>,
    pub(super) dense_output_norm: RmsNorm<V>,
    pub(super) experts_norm: RmsNorm<V>,
    pub(super) experts_output_norm: RmsNorm<V>,
    pub(super) router_norm: RmsNorm<V>,
}

impl<L: LoadLinear, V: LoadVector> Beside<L, V> {
    pub(super) fn load(
        weights: &dyn Source,
        layer: &str,
        (config, llama): (&ModelConfig, &LlamaConfig),
        experts: &config::Experts,
        dense: FeedForward<L>,
    ) -> Result<Self> {
        let d_model = config.d_model;
        let norm = |name: &str| {
            RmsNorm::load_in(weights, &format!("{layer}.{name}"), d_model, config, llama)
        };
        let experts = Experts::load(weights, layer, config, experts)?;
        let router = format!("{layer}.router.scale");
        let scale = ((d_model as f64).powf(-0.5), config.norm_eps);
        Ok(Self {
            dense,
            experts,
            dense_output_norm: norm("post_feedforward_layernorm_1")?,
            experts_norm: norm("pre_feedforward_layernorm_2")?,
            experts_output_norm: norm("post_feedforward_layernorm_2")?,
            router_norm: RmsNorm::load_scaled(weights, &router, d_model, scale)?,
        })
    }
}

impl Beside {
    /// `x` is what the feed-forward network reads, and `sum` is what it is the norm of: `[batch, seq, d_model]`
    /// -> `[batch, seq, d_model]`.
    pub(super) fn forward(&self, x: Tensor<3>, sum: Tensor<3>) -> Tensor<3> {
        self.beside(self.dense.forward(x), sum).1
    }

    /// The weights of the experts, `[batch, seq, experts]`, and what becomes of the output of the feed-forward network.
    pub(super) fn beside(&self, dense: Tensor<3>, sum: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let routing = self.experts.routing(self.router_norm.forward(sum.clone()));
        let experts = self.experts.mixed(self.experts_norm.forward(sum), routing.clone());
        let experts = self.experts_output_norm.forward(experts);
        (routing, self.dense_output_norm.forward(dense) + experts)
    }
}
