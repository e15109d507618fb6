//! The Llama family: token ids in, logits out.

use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor};

use super::architecture::{embedding_name, head_name};
use super::attend::capped;
use super::attention::Attention;
use super::beside::Beside;
use super::config::{LayerConfig, LlamaConfig, Mixer, Mlp, ModelConfig, Norms};
use super::convolution::ShortConvolution;
use super::delta_rule::GatedDelta;
use super::embedding::Embedding;
use super::experts::Experts;
use super::feed_forward::FeedForward;
use super::latent::{LatentAttention, LoadLatent};
use super::layer_inputs::{LayerInput, LayerInputs};
use super::linear::{Linear, Weight};
use super::norm::RmsNorm;
use super::pass::Pass;
use super::residual::Residual;
use super::rope::{Ropes, Rotation};
use super::source::{LoadLinear, LoadMatrix, LoadVector, Role, Source};
use crate::error::Result;

/// What stands before the names of a decoder's tensors: nothing, or the modules around it. In a model that
/// reads more than text, that is one of several parts.
pub(super) const PREFIXES: [&str; 4] = [
    "model.",
    "",
    "model.language_model.",
    "language_model.model.",
];
/// As [`PREFIXES`], of its head.
pub(super) const HEAD_PREFIXES: [&str; 2] = ["", "language_model."];

/// A Llama-style decoder. Its fields are named as in a Hugging Face checkpoint. Their types are those of a kind of
/// device: here Burn's tensors, and in `host` what the kernels of the CPU read.
#[derive(Module, Debug)]
pub struct Decoder<L = Linear, V = Param<Tensor<1>>, M = Weight, T = LatentAttention> {
    pub(super) embed_tokens: Embedding<M>,
    /// Where each layer has embeddings of its own.
    pub(super) layer_inputs: Option<LayerInputs<L, V, M>>,
    pub(super) layers: Vec<Block<L, V, T>>,
    pub(super) norm: RmsNorm<V>,
    /// None where the head is tied to the embedding matrix.
    pub(super) lm_head: Option<L>,
    pub(super) embedding_scale: Option<f64>,
    pub(super) logit_scale: Option<f64>,
    #[module(skip)]
    pub(super) logit_softcap: Option<f32>,
}

/// A transformer block: attention moves information between positions, then the feed-forward
/// network transforms each position. Both have a residual connection.
#[derive(Module, Debug)]
pub struct Block<L = Linear, V = Param<Tensor<1>>, T = LatentAttention> {
    /// Most models norm what attention reads.
    pub(super) input_layernorm: Option<RmsNorm<V>>,
    pub(super) mixing: Mixing<L, V, T>,
    /// Some models norm what attention adds.
    pub(super) attention_output_norm: Option<RmsNorm<V>>,
    /// As before attention.
    pub(super) post_attention_layernorm: Option<RmsNorm<V>>,
    pub(super) mlp: Network<L, V>,
    /// As after attention.
    pub(super) mlp_output_norm: Option<RmsNorm<V>>,
    /// What both parts add is multiplied by this, in some models.
    pub(super) residual_scale: Option<f64>,
    /// What becomes of the layer's embedding of each token, in models that have one.
    pub(super) layer_input: Option<LayerInput<L, V>>,
    /// What leaves the layer is multiplied by this, in some models.
    pub(super) scale: Option<f64>,
}

/// What moves information between positions.
#[derive(Module, Debug)]
pub enum Mixing<L = Linear, V = Param<Tensor<1>>, T = LatentAttention> {
    Heads(Attention<L, V>),
    Latent(T),
    Convolution(ShortConvolution<L>),
    DeltaRule(GatedDelta<L>),
}

/// What transforms each position.
#[derive(Module, Debug)]
pub enum Network<L = Linear, V = Param<Tensor<1>>> {
    Dense(FeedForward<L>),
    Experts(Experts<L, V>),
    Beside(Beside<L, V>),
}

impl<L: LoadLinear, V: LoadVector, M: LoadMatrix, T: LoadLatent> Decoder<L, V, M, T> {
    /// Loads the tensors that `config` requires from `weights`.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape or type.
    pub fn load(weights: &dyn Source, config: &ModelConfig, llama: &LlamaConfig) -> Result<Self> {
        let (vocab, d_model) = (config.vocab_size, config.d_model);
        let prefix = weights.prefix(&PREFIXES, "embed_tokens.weight");
        let name = |part: &str| format!("{prefix}{part}");
        let embedding = embedding_name(weights, config, &PREFIXES, "embed_tokens");
        let layer = |i| {
            let name = name(&format!("layers.{i}"));
            Block::load(weights, &name, config, llama, i)
        };
        Ok(Self {
            embed_tokens: Embedding::load(weights, &embedding, vocab, d_model)?,
            layer_inputs: LayerInputs::load(weights, prefix, config, llama)?,
            layers: (0..config.n_layers).map(layer).collect::<Result<_>>()?,
            norm: RmsNorm::load_in(weights, &name("norm"), d_model, config, llama)?,
            lm_head: if config.tied_head {
                None
            } else {
                let head = head_name(weights);
                Some(L::load(weights, &head, [vocab, d_model], Role::Embedding, false)?)
            },
            embedding_scale: llama.embedding_scale,
            logit_scale: llama.logit_scale,
            logit_softcap: llama.logit_softcap.map(|cap| cap as f32),
        })
    }
}

impl Decoder {
    /// Whether a checkpoint often holds a tensor of this name that [`load`](Self::load) does not
    /// take: the RoPE frequencies, which older versions of transformers stored.
    pub(super) fn can_do_without(name: &str) -> bool {
        name.ends_with("rotary_emb.inv_freq")
    }

    /// Runs all layers over `ids`, `[batch, seq]`, and returns the hidden states of all positions
    /// before the head: `[batch, seq, d_model]`.
    ///
    /// `pass` assigns the positions to sequences, and holds their KV caches.
    pub fn hidden_states(
        &self,
        ids: Tensor<2, Int>,
        ropes: &Ropes,
        pass: &mut Pass<'_>,
    ) -> Tensor<3> {
        let rotations = ropes.rotations(&pass.positions(), &ids.device());
        self.hidden_states_at(ids, &rotations, pass)
    }

    /// As [`hidden_states`](Self::hidden_states), where the rotations of all positions are known.
    // ANCHOR: hidden
    pub(super) fn hidden_states_at(
        &self,
        ids: Tensor<2, Int>,
        rotations: &[Rotation],
        pass: &mut Pass<'_>,
    ) -> Tensor<3> {
        let embeddings = self.embed(ids.clone());
        let inputs = self.layer_inputs.as_ref();
        let inputs = inputs.map(|inputs| inputs.forward(ids, embeddings.clone()));
        let mut x = Residual::new(embeddings);
        for (i, layer) in self.layers.iter().enumerate() {
            layer.forward(&mut x, rotations, pass);
            layer.end(&mut x, inputs.as_ref(), i);
        }
        x.normed(Some(&self.norm))
    }
    // ANCHOR_END: hidden

    /// The head: `[batch, seq, d_model]` -> logits `[batch, seq, vocab]`.
    pub fn logits(&self, hidden: Tensor<3>) -> Tensor<3> {
        let logits = match &self.lm_head {
            Some(head) => head.forward(hidden),
            None => self.embed_tokens.tied_head().forward(hidden),
        };
        capped(scaled(logits, self.logit_scale), self.logit_softcap)
    }

    /// Whether all that a layer has is attention and one dense network.
    #[cfg(feature = "cube")]
    pub(super) fn is_dense(&self) -> bool {
        let is_dense = |layer: &Block| {
            let (mixing, mlp) = (&layer.mixing, &layer.mlp);
            matches!((mixing, mlp), (Mixing::Heads(heads), Network::Dense(_)) if heads.k_proj.is_some())
        };
        self.layers.iter().all(is_dense)
    }

    /// The embeddings of token ids: `[batch, seq]` -> `[batch, seq, d_model]`.
    pub(super) fn embed(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        scaled(self.embed_tokens.forward(ids), self.embedding_scale)
    }
}

impl<L: LoadLinear, V: LoadVector, T: LoadLatent> Block<L, V, T> {
    fn load(
        weights: &dyn Source,
        name: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
        index: usize,
    ) -> Result<Self> {
        let layer = llama.layer(index);
        let norm = |part: &str| {
            let name = format!("{name}.{part}");
            RmsNorm::load_in(weights, &name, config.d_model, config, llama)
        };
        let names = layer.norms.names();
        let optional = |part: Option<&str>| part.map(norm).transpose();
        Ok(Self {
            input_layernorm: optional(names.before_attention)?,
            mixing: Mixing::load(weights, name, config, llama, index)?,
            attention_output_norm: optional(names.after_attention)?,
            post_attention_layernorm: optional(names.before_mlp)?,
            mlp: Network::load(weights, name, config, llama, layer)?,
            mlp_output_norm: optional(names.after_mlp)?,
            residual_scale: llama.residual_scale,
            layer_input: LayerInput::load(weights, name, config, llama)?,
            scale: llama.load_scale(weights, name)?,
        })
    }
}

impl Block {
    // ANCHOR: block
    /// Adds the outputs of both parts to the residual stream, `[batch, seq, d_model]`.
    fn forward(&self, x: &mut Residual, rotations: &[Rotation], pass: &mut Pass<'_>) {
        let normed = x.normed(self.input_layernorm.as_ref());
        let mixed = self.mixing.forward(normed, rotations, pass);
        x.add(self.added(&self.attention_output_norm, mixed));
        let normed = x.normed(self.post_attention_layernorm.as_ref());
        let output = self.mlp.forward(normed, x);
        x.add(self.added(&self.mlp_output_norm, output));
    }
    // ANCHOR_END: block

    /// Adds what the layer makes of its embeddings, where it has some, and scales the sum: `inputs` are those of all
    /// layers, of which this is one.
    pub(super) fn end(&self, x: &mut Residual, inputs: Option<&Tensor<4>>, index: usize) {
        if let (Some(own), Some(inputs)) = (&self.layer_input, inputs) {
            let added = own.forward(x.sum(), inputs, index);
            x.add(added);
        }
        if let Some(scale) = self.scale {
            x.scale(scale);
        }
    }

    /// What a part adds, after its norm where it has one.
    pub(super) fn added(&self, norm: &Option<RmsNorm>, output: Tensor<3>) -> Tensor<3> {
        scaled(applied(norm, output), self.residual_scale)
    }
}

/// The norm of `x`, where there is one.
pub(super) fn applied(norm: &Option<RmsNorm>, x: Tensor<3>) -> Tensor<3> {
    match norm {
        Some(norm) => norm.forward(x),
        None => x,
    }
}

/// `x` times a number, in models that have it.
fn scaled(x: Tensor<3>, scale: Option<f64>) -> Tensor<3> {
    match scale {
        Some(scale) => x * scale,
        None => x,
    }
}

impl<L: LoadLinear, V: LoadVector, T: LoadLatent> Mixing<L, V, T> {
    fn load(
        weights: &dyn Source,
        layer: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
        index: usize,
    ) -> Result<Self> {
        let (name, place) = (|part: &str| format!("{layer}.{part}"), (config, llama, index));
        match (llama.layer(index).mixer, &llama.latent) {
            (Mixer::Attention, None) => {
                Attention::load(weights, &name("self_attn"), config, llama, index).map(Self::Heads)
            }
            (Mixer::Attention, Some(latent)) => {
                T::load(weights, &name("self_attn"), place, latent).map(Self::Latent)
            }
            (Mixer::Convolution(shape), _) => {
                ShortConvolution::load(weights, &name("conv"), place, shape).map(Self::Convolution)
            }
            (Mixer::DeltaRule(rule), _) => {
                GatedDelta::load(weights, &name("linear_attn"), place, rule).map(Self::DeltaRule)
            }
        }
    }
}

impl Mixing {
    fn forward(&self, x: Tensor<3>, rotations: &[Rotation], pass: &mut Pass<'_>) -> Tensor<3> {
        match self {
            Self::Heads(attention) => attention.forward(x, rotations, pass),
            Self::Latent(attention) => attention.forward(x, rotations, pass),
            Self::Convolution(convolution) => convolution.forward(x, pass),
            Self::DeltaRule(rule) => rule.forward(x, pass),
        }
    }
}

impl<L: LoadLinear, V: LoadVector> Network<L, V> {
    fn load(
        weights: &dyn Source,
        layer: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
        place: &LayerConfig,
    ) -> Result<Self> {
        let dense = || {
            let d_ff = place.d_ff.unwrap_or(config.d_ff);
            FeedForward::load(weights, &format!("{layer}.mlp"), config, llama, d_ff)
        };
        match &place.mlp {
            Mlp::Dense => dense().map(Self::Dense),
            Mlp::Experts(experts) => {
                Experts::load(weights, layer, config, experts).map(Self::Experts)
            }
            Mlp::Beside(experts) => {
                let network = Beside::load(weights, layer, (config, llama), experts, dense()?)?;
                Ok(Self::Beside(network))
            }
        }
    }
}

impl Network {
    /// `x` is what `stream` is after a norm.
    fn forward(&self, x: Tensor<3>, stream: &mut Residual) -> Tensor<3> {
        match self {
            Self::Dense(network) => network.forward(x),
            Self::Experts(experts) => experts.forward(x),
            Self::Beside(network) => network.forward(x, stream.sum()),
        }
    }
}

/// What a checkpoint calls the norms of a layer, as far as it has them.
#[derive(Default)]
pub(super) struct NormNames {
    pub(super) before_attention: Option<&'static str>,
    pub(super) after_attention: Option<&'static str>,
    pub(super) before_mlp: Option<&'static str>,
    pub(super) after_mlp: Option<&'static str>,
}

impl Norms {
    pub(super) fn names(self) -> NormNames {
        let after = NormNames {
            after_attention: Some("post_attention_layernorm"),
            after_mlp: Some("post_feedforward_layernorm"),
            ..NormNames::default()
        };
        match self {
            Self::Before => NormNames {
                before_attention: Some("input_layernorm"),
                before_mlp: Some("post_attention_layernorm"),
                ..NormNames::default()
            },
            Self::Around => NormNames {
                before_attention: Some("input_layernorm"),
                before_mlp: Some("pre_feedforward_layernorm"),
                ..after
            },
            Self::After => after,
        }
    }
}
