//! Per-layer embeddings: besides hidden states, each layer has an embedding of its own for each token (Gemma 3n).

use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor, s};

use super::activation::Activation;
use super::attention::split_heads;
use super::config::{LayerEmbedding, LlamaConfig, ModelConfig};
use super::embedding::Embedding;
use super::linear::{Linear, Weight};
use super::norm::RmsNorm;
use super::source::{LoadLinear, LoadMatrix, LoadVector, Role, Source};
use crate::error::Result;

/// The embeddings of all layers, and what is added to them. Its fields are named as in a Hugging Face checkpoint.
#[derive(Module, Debug)]
pub struct LayerInputs<L = Linear, V = Param<Tensor<1>>, M = Weight> {
    /// `[tokens, layers * width]`
    pub(super) embed_tokens_per_layer: Embedding<M>,
    /// `[layers * width, d_model]`
    pub(super) per_layer_model_projection: L,
    /// Of the vector of each layer.
    pub(super) per_layer_projection_norm: RmsNorm<V>,
    pub(super) width: usize,
}

impl<L: LoadLinear, V: LoadVector, M: LoadMatrix> LayerInputs<L, V, M> {
    /// None in a model without. `prefix` stands before the names.
    pub(super) fn load(
        weights: &dyn Source,
        prefix: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
    ) -> Result<Option<Self>> {
        let Some(LayerEmbedding { tokens, width }) = llama.layer_embedding else {
            return Ok(None);
        };
        let name = |part: &str| format!("{prefix}{part}");
        let (all, d_model) = (config.n_layers * width, config.d_model);
        let (table, projection) =
            (name("embed_tokens_per_layer"), name("per_layer_model_projection"));
        let norm = name("per_layer_projection_norm");
        Ok(Some(Self {
            embed_tokens_per_layer: Embedding::load(weights, &table, tokens, all)?,
            per_layer_model_projection: {
                L::load(weights, &projection, [all, d_model], Role::Layer, false)?
            },
            per_layer_projection_norm: RmsNorm::load_in(weights, &norm, width, config, llama)?,
            width,
        }))
    }
}

impl LayerInputs {
    /// The vectors of all layers for each token: its own, and what its embedding in the model becomes.
    /// `[batch, seq]` and `[batch, seq, d_model]` -> `[batch, seq, layers, width]`
    pub(super) fn forward(&self, ids: Tensor<2, Int>, embeddings: Tensor<3>) -> Tensor<4> {
        let [_, _, d_model] = embeddings.dims();
        let of_layers = |x: Tensor<3>| split_heads(x, self.width);
        let own = of_layers(self.embed_tokens_per_layer.forward(ids));
        let of_model = self.per_layer_model_projection.forward(embeddings);
        let of_model = of_layers(of_model * (d_model as f64).powf(-0.5));
        let of_model = self.per_layer_projection_norm.forward(of_model);
        (of_model + own * (self.width as f64).sqrt()) * 0.5f64.sqrt()
    }
}

/// What a layer makes of its vectors.
#[derive(Module, Debug)]
pub struct LayerInput<L = Linear, V = Param<Tensor<1>>> {
    /// `[width, d_model]`
    pub(super) per_layer_input_gate: L,
    /// `[d_model, width]`
    pub(super) per_layer_projection: L,
    pub(super) post_per_layer_input_norm: RmsNorm<V>,
    #[module(skip)]
    pub(super) activation: Activation,
}

impl<L: LoadLinear, V: LoadVector> LayerInput<L, V> {
    /// None in a model without. `layer` stands before the names.
    pub(super) fn load(
        weights: &dyn Source,
        layer: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
    ) -> Result<Option<Self>> {
        let Some(LayerEmbedding { width, .. }) = llama.layer_embedding else {
            return Ok(None);
        };
        let (d_model, name) = (config.d_model, |part: &str| format!("{layer}.{part}"));
        let linear = |part: &str, shape| L::load(weights, &name(part), shape, Role::Layer, false);
        let norm = name("post_per_layer_input_norm");
        Ok(Some(Self {
            per_layer_input_gate: linear("per_layer_input_gate", [width, d_model])?,
            per_layer_projection: linear("per_layer_projection", [d_model, width])?,
            post_per_layer_input_norm: RmsNorm::load_in(weights, &norm, d_model, config, llama)?,
            activation: config.activation,
        }))
    }
}

impl LayerInput {
    /// What the layer adds: `x` is `[batch, seq, d_model]`, and so is the result; `inputs` are those of all layers, of
    /// which this is one.
    pub(super) fn forward(&self, x: Tensor<3>, inputs: &Tensor<4>, index: usize) -> Tensor<3> {
        let [batch, seq, _, width] = inputs.dims();
        let input = inputs.clone().slice(s![.., .., index..=index, ..]);
        let gate = self.per_layer_input_gate.forward(x);
        let gated = self.activation.gated(gate, input.reshape([batch, seq, width]));
        self.post_per_layer_input_norm.forward(self.per_layer_projection.forward(gated))
    }
}

impl LlamaConfig {
    /// What leaves a layer is multiplied by this, in a model where it is.
    pub(super) fn load_scale(&self, weights: &dyn Source, layer: &str) -> Result<Option<f64>> {
        let scale = || weights.numbers(&format!("{layer}.layer_scalar"), 1, Role::Layer);
        let scale = self.layer_scale.then(scale).transpose()?;
        Ok(scale.map(|scale| f64::from(scale[0])))
    }
}
