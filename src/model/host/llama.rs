//! The Llama family on the CPU, as [`decoder`](crate::model::decoder) defines it.

use std::sync::Arc;

use super::attention::Attention;
use super::beside::Beside;
use super::convolution::ShortConvolution;
use super::delta_rule::GatedDelta;
use super::experts::Experts;
use super::gated::{Gated, GatedScratch};
use super::layer_inputs::{LayerInput, LayerInputs};
use super::{Linear, Stop, Watch, add, embedding, head, numbered};
use crate::adapter::Sites;
use crate::error::Result;
use crate::kernels::{Panels, Scoring, recorded};
use crate::model::architecture::{embedding_name, head_name};
use crate::model::config::{LayerConfig, LlamaConfig, Mixer, Mlp, ModelConfig};
use crate::model::decoder::PREFIXES;
use crate::model::pass::Pass;
use crate::model::rope::Ropes;
use crate::model::source::{Role, Source, parts};

/// A Llama-style decoder.
#[derive(Debug)]
pub(in crate::model) struct Llama {
    embedding: Panels,
    embedding_scale: Option<f64>,
    /// Where each layer has embeddings of its own.
    layer_inputs: Option<LayerInputs>,
    blocks: Vec<Block>,
    norm: RmsNorm,
    /// None where the head is tied to the embedding matrix.
    head: Option<Panels>,
    logit_scale: Option<f64>,
    logit_softcap: Option<f32>,
    ropes: Ropes,
    sites: Arc<Sites>,
}

/// A transformer block.
#[derive(Debug)]
struct Block {
    /// Most models norm what attention reads.
    attention_norm: Option<RmsNorm>,
    mixing: Mixing,
    /// Some models norm what attention adds.
    attention_output_norm: Option<RmsNorm>,
    /// As before attention.
    feed_forward_norm: Option<RmsNorm>,
    feed_forward: FeedForward,
    /// As after attention.
    feed_forward_output_norm: Option<RmsNorm>,
    /// What both parts add is multiplied by this, in some models.
    residual_scale: Option<f64>,
    /// What becomes of the layer's embedding of each token, in models that have one.
    layer_input: Option<LayerInput>,
    /// What leaves the layer is multiplied by this, in some models.
    scale: Option<f64>,
}

/// What moves information between positions.
#[derive(Debug)]
enum Mixing {
    Attention(Attention),
    Convolution(ShortConvolution),
    DeltaRule(GatedDelta),
}

/// What transforms each position.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a layer has one, and most models have no other"
)]
enum FeedForward {
    Dense(Gated),
    Experts(Experts),
    Beside(Box<Beside>),
}

#[derive(Debug)]
pub(super) struct RmsNorm {
    /// `[d]`
    pub(super) weight: Vec<f32>,
    pub(super) eps: f32,
}

/// The RoPE angles of the positions in a pass.
pub(super) struct Angles {
    seq: usize,
    /// `[seq, rotated / 2]`
    cos: Vec<f32>,
    /// `[seq, rotated / 2]`
    sin: Vec<f32>,
    /// What queries are multiplied by besides, `[seq]`, where they grow with their position.
    growth: Option<Vec<f32>>,
}

/// The vectors of a block, `[seq, width]`. All blocks of a pass use the same memory.
#[derive(Default)]
struct Scratch {
    normed: Vec<f32>,
    /// Queries, keys and values, or what else a layer makes of its input.
    projected: [Vec<f32>; 3],
    gated: GatedScratch,
    /// What a part adds to the residual stream.
    added: Vec<f32>,
}

impl Llama {
    pub(super) fn load(
        weights: &dyn Source,
        config: &ModelConfig,
        llama: &LlamaConfig,
    ) -> Result<Self> {
        let shape = [config.vocab_size, config.d_model];
        let prefix = weights.prefix(&PREFIXES, "embed_tokens.weight");
        let name = |part: &str| format!("{prefix}{part}");
        let embedding = embedding_name(weights, config, &PREFIXES, "embed_tokens");
        let block = |i| {
            let name = name(&format!("layers.{i}"));
            Block::load(weights, &name, config, llama, i)
        };
        let mut network = Self {
            embedding: weights.panels(&format!("{embedding}.weight"), shape, Role::Embedding)?,
            embedding_scale: llama.embedding_scale,
            layer_inputs: LayerInputs::load(weights, prefix, config, llama)?,
            blocks: (0..config.n_layers).map(block).collect::<Result<_>>()?,
            norm: RmsNorm::load(weights, &name("norm"), config.d_model, config, llama)?,
            head: if config.tied_head {
                None
            } else {
                let head = format!("{}.weight", head_name(weights));
                Some(weights.panels(&head, shape, Role::Embedding)?)
            },
            logit_scale: llama.logit_scale,
            logit_softcap: llama.logit_softcap.map(|cap| cap as f32),
            ropes: Ropes::of(config, llama), // after the weights, whose sizes were checked
            sites: Arc::default(),
        };
        network.sites = numbered(network.blocks.iter_mut().flat_map(Block::linears));
        Ok(network)
    }

    /// The linear layers that adapters can change.
    pub(in crate::model) fn sites(&self) -> &Arc<Sites> {
        &self.sites
    }

    /// The hidden states after the last norm, `[seq, d_model]`.
    pub(in crate::model) fn hidden_states(
        &self,
        row: &[u32],
        pass: &mut Pass<'_>,
        watch: &mut Watch<'_>,
    ) -> Vec<f32> {
        let (seq, positions) = (row.len(), pass.positions());
        let angles = self.ropes.iter().map(|rope| {
            let ([cos, sin], growth) = (rope.tables(&positions), rope.growth(&positions));
            Angles { seq, cos, sin, growth }
        });
        let angles: Vec<Angles> = angles.collect();
        let mut x = self.embed(row);
        let mut scratch = Scratch::default();
        let inputs = self.layer_inputs.as_ref().map(|inputs| inputs.forward(row, &x));
        for (i, block) in self.blocks.iter().enumerate() {
            block.forward(&mut x, &angles, pass, &mut scratch, watch);
            block.end(&mut x, seq, inputs.as_deref(), i);
            watch(Stop::Output, &x);
        }
        self.norm.apply(&mut x);
        x
    }

    /// The embeddings of token ids: `[seq, d_model]`.
    pub(in crate::model) fn embed(&self, row: &[u32]) -> Vec<f32> {
        let mut x = embedding(&self.embedding, row);
        scale(&mut x, self.embedding_scale);
        x
    }

    /// The sinks of the heads of each layer, `[n_heads]`, where it has some.
    pub(in crate::model) fn sinks(&self) -> Vec<Option<Vec<f32>>> {
        let scoring = (0..self.blocks.len()).map(|layer| self.scoring(layer));
        scoring.map(|scoring| scoring?.sinks.map(<[f32]>::to_vec)).collect()
    }

    /// How attention scores in a layer, if it has keys and values.
    pub(in crate::model) fn scoring(&self, layer: usize) -> Option<Scoring<'_>> {
        match &self.blocks[layer].mixing {
            Mixing::Attention(attention) => Some(attention.scoring()),
            Mixing::Convolution(_) | Mixing::DeltaRule(_) => None,
        }
    }

    /// The head: `[rows, d_model]` -> `[rows, vocab]`.
    pub(in crate::model) fn logits(&self, hidden: &[f32], rows: usize) -> Vec<f32> {
        let mut logits = head(self.head.as_ref().unwrap_or(&self.embedding), hidden, rows);
        scale(&mut logits, self.logit_scale);
        if let Some(cap) = self.logit_softcap {
            recorded::cap(&mut logits, cap);
        }
        logits
    }
}

impl Block {
    fn load(
        weights: &dyn Source,
        name: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
        index: usize,
    ) -> Result<Self> {
        let layer = llama.layer(index);
        let norm = |part: Option<&str>| {
            let norm = |part| {
                RmsNorm::load(weights, &format!("{name}.{part}"), config.d_model, config, llama)
            };
            part.map(norm).transpose()
        };
        let names = layer.norms.names();
        // In the order of the decoder, so that random weights are the same.
        Ok(Self {
            attention_norm: norm(names.before_attention)?,
            mixing: Mixing::load(weights, name, config, llama, index)?,
            attention_output_norm: norm(names.after_attention)?,
            feed_forward_norm: norm(names.before_mlp)?,
            feed_forward: FeedForward::load(weights, name, config, llama, layer)?,
            feed_forward_output_norm: norm(names.after_mlp)?,
            residual_scale: llama.residual_scale,
            layer_input: LayerInput::load(weights, name, config, llama)?,
            scale: llama.load_scale(weights, name)?,
        })
    }

    /// The linear layers that adapters can change: not those of experts.
    fn linears(&mut self) -> Vec<&mut Linear> {
        let mut linears = match &mut self.mixing {
            Mixing::Attention(attention) => attention.linears(),
            Mixing::Convolution(convolution) => convolution.linears(),
            Mixing::DeltaRule(rule) => rule.linears(),
        };
        match &mut self.feed_forward {
            FeedForward::Dense(network) => linears.extend(network.linears()),
            FeedForward::Experts(_) => {}
            FeedForward::Beside(both) => linears.extend(both.dense.linears()),
        }
        linears
    }

    // ANCHOR: block
    /// Adds what attention and the feed-forward network compute to `x`, `[seq, d_model]`.
    fn forward(
        &self,
        x: &mut Vec<f32>,
        angles: &[Angles],
        pass: &mut Pass<'_>,
        scratch: &mut Scratch,
        watch: &mut Watch<'_>,
    ) {
        let Scratch { normed, projected, gated, added } = scratch;
        let rows = &pass.rows();

        normed.clone_from(x);
        norm(&self.attention_norm, normed);
        watch(Stop::AttentionInput, normed);
        match &self.mixing {
            Mixing::Attention(attention) => {
                attention.forward(normed, angles, pass, projected, added, watch);
            }
            Mixing::Convolution(convolution) => {
                convolution.forward(normed, pass, projected, added, watch);
            }
            Mixing::DeltaRule(rule) => rule.forward(normed, pass, projected, added, watch),
        }
        norm(&self.attention_output_norm, added);
        scale(added, self.residual_scale);
        watch(Stop::Attention, added);
        add(x, added);
        watch(Stop::AfterAttention, x);

        normed.clone_from(x);
        norm(&self.feed_forward_norm, normed);
        watch(Stop::FeedForwardInput, normed);
        match &self.feed_forward {
            FeedForward::Dense(network) => network.forward(normed, rows, added, gated, watch),
            FeedForward::Experts(experts) => {
                experts.forward(normed, rows.count, added, gated, watch)
            }
            FeedForward::Beside(both) => both.forward([normed, x], rows, added, gated, watch),
        }
        norm(&self.feed_forward_output_norm, added);
        scale(added, self.residual_scale);
        watch(Stop::FeedForward, added);
        add(x, added);
    }
    // ANCHOR_END: block

    /// Adds what the layer makes of its embeddings, where it has some, and scales the sum: `inputs` are those of all
    /// layers, of which this is one.
    fn end(&self, x: &mut [f32], seq: usize, inputs: Option<&[f32]>, index: usize) {
        if let (Some(own), Some(inputs)) = (&self.layer_input, inputs) {
            own.forward(x, seq, inputs, index);
        }
        scale(x, self.scale);
    }
}

impl Mixing {
    fn load(
        weights: &dyn Source,
        layer: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
        index: usize,
    ) -> Result<Self> {
        match llama.layer(index).mixer {
            Mixer::Attention => {
                let name = format!("{layer}.self_attn");
                Attention::load(weights, &name, config, llama, index).map(Self::Attention)
            }
            Mixer::Convolution(shape) => {
                let name = format!("{layer}.conv");
                let place = (config, llama, index);
                ShortConvolution::load(weights, &name, place, shape).map(Self::Convolution)
            }
            Mixer::DeltaRule(rule) => {
                let name = format!("{layer}.linear_attn");
                let place = (config, llama, index);
                GatedDelta::load(weights, &name, place, rule).map(Self::DeltaRule)
            }
        }
    }
}

impl FeedForward {
    fn load(
        weights: &dyn Source,
        layer: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
        place: &LayerConfig,
    ) -> Result<Self> {
        if let Mlp::Experts(experts) = &place.mlp {
            return Experts::load(weights, layer, config, experts).map(Self::Experts);
        }
        let d_ff = place.d_ff.unwrap_or(config.d_ff);
        let whole = llama.fused.then_some("gate_up_proj");
        let [gate, up] = parts(["gate_proj", "up_proj"], [d_ff, d_ff], whole);
        let places = [gate, up, ("down_proj", Role::Layer)];
        let places = places.map(|(part, role)| (format!("{layer}.mlp.{part}"), role));
        let dense = Gated::load(weights, places, config, d_ff, llama.mlp_bias)?;
        let Mlp::Beside(experts) = &place.mlp else {
            return Ok(Self::Dense(dense));
        };
        let both = Beside::load(weights, layer, (config, llama), experts, dense)?;
        Ok(Self::Beside(Box::new(both)))
    }
}

/// Applies a norm where there is one.
pub(super) fn norm(norm: &Option<RmsNorm>, x: &mut [f32]) {
    if let Some(norm) = norm {
        norm.apply(x);
    }
}

/// Multiplies by a number where there is one.
fn scale(x: &mut [f32], scale: Option<f64>) {
    if let Some(scale) = scale {
        x.iter_mut().for_each(|x| *x *= scale as f32);
    }
}

impl RmsNorm {
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        d: usize,
        config: &ModelConfig,
        llama: &LlamaConfig,
    ) -> Result<Self> {
        let mut weight = weights.numbers(&format!("{name}.weight"), d, Role::Layer)?;
        if llama.one_plus_norms {
            weight.iter_mut().for_each(|weight| *weight += 1.0);
        }
        Ok(Self { weight, eps: config.norm_eps as f32 })
    }

    /// A norm of vectors of `d` numbers that multiplies by the same number everywhere.
    pub(super) fn without_weights(d: usize, config: &ModelConfig) -> Self {
        Self { weight: vec![1.0; d], eps: config.norm_eps as f32 }
    }

    /// Normalizes each vector of `[..., d]`.
    pub(super) fn apply(&self, x: &mut [f32]) {
        recorded::rms_norm(x, &self.weight, self.eps);
    }
}

impl Angles {
    /// Rotates queries or keys, `[seq, heads * head_dim]`.
    pub(super) fn rotate(&self, x: &mut [f32], head_dim: usize) {
        recorded::rotate(x, self.seq, head_dim, &self.cos, &self.sin);
    }

    /// Multiplies queries, `[seq, n_heads * head_dim]`, where they grow with their position.
    pub(super) fn grow(&self, q: &mut [f32]) {
        let width = q.len() / self.seq;
        for (q, growth) in q.chunks_exact_mut(width).zip(self.growth.iter().flatten()) {
            q.iter_mut().for_each(|q| *q *= growth);
        }
    }
}
