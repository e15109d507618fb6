//! The Llama family on the CPU, as [`decoder`](crate::model::decoder) defines it.

use std::sync::Arc;

use super::gated::GatedScratch;
use super::latent::Latent;
use super::{Linear, Stop, Watch, add, embedding, head, numbered};
use crate::adapter::Sites;
use crate::error::Result;
use crate::kernels::{Panels, Scoring, recorded};
use crate::model::config::{LlamaConfig, ModelConfig};
use crate::model::decoder::{Block, Decoder, Mixing, Network};
use crate::model::norm;
use crate::model::pass::Pass;
use crate::model::rope::Ropes;
use crate::model::source::Source;

/// A Llama-style decoder.
#[derive(Debug)]
pub(in crate::model) struct Llama {
    decoder: Decoder<Linear, Vec<f32>, Panels, Latent>,
    ropes: Ropes,
    sites: Arc<Sites>,
}

pub(super) type RmsNorm = norm::RmsNorm<Vec<f32>>;

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
        let mut decoder = Decoder::load(weights, config, llama)?;
        let sites = numbered(decoder.layers.iter_mut().flat_map(Block::linears));
        // After the weights, whose sizes were checked.
        Ok(Self { decoder, ropes: Ropes::of(config, llama), sites })
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
        let inputs = self.decoder.layer_inputs.as_ref().map(|inputs| inputs.forward(row, &x));
        for (i, block) in self.decoder.layers.iter().enumerate() {
            block.forward(&mut x, &angles, pass, &mut scratch, watch);
            block.end(&mut x, seq, inputs.as_deref(), i);
            watch(Stop::Output, &x);
        }
        self.decoder.norm.apply(&mut x);
        x
    }

    /// The embeddings of token ids: `[seq, d_model]`.
    pub(in crate::model) fn embed(&self, row: &[u32]) -> Vec<f32> {
        let mut x = embedding(&self.decoder.embed_tokens, row);
        scale(&mut x, self.decoder.embedding_scale);
        x
    }

    /// The sinks of the heads of each layer, `[n_heads]`, where it has some.
    pub(in crate::model) fn sinks(&self) -> Vec<Option<Vec<f32>>> {
        let scoring = (0..self.decoder.layers.len()).map(|layer| self.scoring(layer));
        scoring.map(|scoring| scoring?.sinks.map(<[f32]>::to_vec)).collect()
    }

    /// How attention scores in a layer, if it has keys and values.
    pub(in crate::model) fn scoring(&self, layer: usize) -> Option<Scoring<'_>> {
        match &self.decoder.layers[layer].mixing {
            Mixing::Heads(attention) => Some(attention.scoring()),
            Mixing::Latent(attention) => Some(attention.place.scoring),
            Mixing::Convolution(_) | Mixing::DeltaRule(_) => None,
        }
    }

    /// The head: `[rows, d_model]` -> `[rows, vocab]`.
    pub(in crate::model) fn logits(&self, hidden: &[f32], rows: usize) -> Vec<f32> {
        let Decoder { lm_head, embed_tokens, logit_scale, logit_softcap, .. } = &self.decoder;
        let mut logits = head(lm_head, embed_tokens, hidden, rows);
        scale(&mut logits, *logit_scale);
        if let Some(cap) = *logit_softcap {
            recorded::cap(&mut logits, cap);
        }
        logits
    }
}

impl Block<Linear, Vec<f32>, Latent> {
    /// The linear layers that adapters can change: not those of experts.
    fn linears(&mut self) -> Vec<&mut Linear> {
        let mut linears = match &mut self.mixing {
            Mixing::Heads(attention) => attention.linears(),
            Mixing::Latent(attention) => attention.linears(),
            Mixing::Convolution(convolution) => convolution.linears(),
            Mixing::DeltaRule(rule) => rule.linears(),
        };
        match &mut self.mlp {
            Network::Dense(network) => linears.extend(network.linears()),
            Network::Experts(_) => {}
            Network::Beside(both) => linears.extend(both.dense.linears()),
        }
        linears
    }

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
        norm(&self.input_layernorm, normed);
        watch(Stop::AttentionInput, normed);
        match &self.mixing {
            Mixing::Heads(attention) => {
                attention.forward(normed, angles, pass, projected, added, watch);
            }
            Mixing::Latent(attention) => {
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
        norm(&self.post_attention_layernorm, normed);
        watch(Stop::FeedForwardInput, normed);
        match &self.mlp {
            Network::Dense(network) => network.forward(normed, rows, added, gated, watch),
            Network::Experts(experts) => experts.forward(normed, rows.count, added, gated, watch),
            Network::Beside(both) => both.forward([normed, x], rows, added, gated, watch),
        }
        norm(&self.mlp_output_norm, added);
        scale(added, self.residual_scale);
        watch(Stop::FeedForward, added);
        add(x, added);
    }

    /// Adds what the layer makes of its embeddings, where it has some, and scales the sum: `inputs` are those of all
    /// layers, of which this is one.
    fn end(&self, x: &mut [f32], seq: usize, inputs: Option<&[f32]>, index: usize) {
        if let (Some(own), Some(inputs)) = (&self.layer_input, inputs) {
            own.forward(x, seq, inputs, index);
        }
        scale(x, self.scale);
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
    /// Normalizes each vector of `[..., d]`.
    pub(super) fn apply(&self, x: &mut [f32]) {
        recorded::rms_norm(x, &self.weight, self.eps as f32);
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
