//! The Llama family on the CPU, as [`decoder`](crate::model::decoder) defines it.

use super::experts::Experts;
use super::gated::{Gated, GatedScratch};
use super::latent::Latent;
use super::{Linear, Stop, Watch, add, embedding, head, linear};
use crate::error::Result;
use crate::kernels::{Panels, Scoring, recorded};
use crate::model::architecture::{embedding_name, head_name};
use crate::model::config::{LlamaConfig, Mlp, ModelConfig};
use crate::model::decoder::PREFIXES;
use crate::model::pass::Pass;
use crate::model::rope::Ropes;
use crate::model::source::{Role, Source, parts};

/// A Llama-style decoder.
#[derive(Debug)]
pub(in crate::model) struct Llama {
    embedding: Panels,
    embedding_scale: Option<f64>,
    blocks: Vec<Block>,
    norm: RmsNorm,
    /// None where the head is tied to the embedding matrix.
    head: Option<Panels>,
    logit_scale: Option<f64>,
    logit_softcap: Option<f32>,
    ropes: Ropes,
    head_dim: usize,
}

/// A transformer block.
#[derive(Debug)]
struct Block {
    /// Most models norm what attention reads.
    attention_norm: Option<RmsNorm>,
    projections: Projections,
    output: Linear,
    query_norm: Option<RmsNorm>,
    key_norm: Option<RmsNorm>,
    /// Which of the angles queries and keys are rotated by, if any.
    rope: Option<usize>,
    scoring: Scoring<'static>,
    /// `[n_heads]`, where heads have sinks.
    sinks: Option<Vec<f32>>,
    /// Some models norm what attention adds.
    attention_output_norm: Option<RmsNorm>,
    /// As before attention.
    feed_forward_norm: Option<RmsNorm>,
    feed_forward: FeedForward,
    /// As after attention.
    feed_forward_output_norm: Option<RmsNorm>,
    /// What both parts add is multiplied by this, in some models.
    residual_scale: Option<f64>,
}

/// Where queries, keys and values come from.
#[derive(Debug)]
enum Projections {
    /// A matrix of each.
    Heads([Linear; 3]),
    Latent(Latent),
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
}

#[derive(Debug)]
pub(super) struct RmsNorm {
    /// `[d]`
    pub(super) weight: Vec<f32>,
    pub(super) eps: f32,
}

/// The RoPE angles of the positions in a pass.
struct Angles {
    seq: usize,
    head_dim: usize,
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
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
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
        Ok(Self {
            embedding: weights.panels(&format!("{embedding}.weight"), shape, Role::Embedding)?,
            embedding_scale: llama.embedding_scale,
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
            head_dim: config.head_dim,
            ropes: Ropes::of(config, llama), // after the weights, whose sizes were checked
        })
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
            Angles { seq, head_dim: self.head_dim, cos, sin, growth }
        });
        let angles: Vec<Angles> = angles.collect();
        let mut x = self.embed(row);
        let mut scratch = Scratch::default();
        for (i, block) in self.blocks.iter().enumerate() {
            let angles = block.rope.map(|rope| &angles[rope]);
            block.forward(&mut x, angles, i, pass, &mut scratch, watch);
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

    /// The sinks of the heads of each layer, `[n_heads]`; none in a model without.
    pub(in crate::model) fn sinks(&self) -> Vec<Vec<f32>> {
        self.blocks.iter().filter_map(|block| block.sinks.clone()).collect()
    }

    /// How attention scores in a layer.
    pub(in crate::model) fn scoring(&self, layer: usize) -> Scoring<'_> {
        self.blocks[layer].scoring()
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
        let (d_model, head_dim) = (config.d_model, config.head_dim);
        let (d_q, d_kv) = (config.n_heads * head_dim, config.n_kv_heads * head_dim);
        let layer = llama.layer(index);
        let linear = |(part, role): (&str, Role), shape, bias| {
            Linear::load(weights, &format!("{name}.self_attn.{part}"), shape, role, bias)
        };
        let norm =
            |part: &str, d| RmsNorm::load(weights, &format!("{name}.{part}"), d, config, llama);
        let qk_norm = |part: &str, heads| {
            let length = llama.qk_norm_length(heads, head_dim);
            length.map(|length| norm(part, length)).transpose()
        };
        let names = layer.norms.names();
        let optional = |part: Option<&str>| part.map(|part| norm(part, d_model)).transpose();
        let whole = llama.fused.then_some("qkv_proj");
        let [q, k, v] = parts(["q_proj", "k_proj", "v_proj"], [d_q, d_kv, d_kv], whole);
        let sinks = || {
            let name = format!("{name}.self_attn.sinks");
            weights.numbers(&name, config.n_heads, Role::Layer)
        };
        // In the order of the decoder, so that random weights are the same.
        let attention_norm = optional(names.before_attention)?;
        let (projections, output) = match &llama.latent {
            None => {
                let query = linear(q, [d_q, d_model], llama.qkv_bias)?;
                let key = linear(k, [d_kv, d_model], llama.qkv_bias)?;
                let value = linear(v, [d_kv, d_model], llama.qkv_bias)?;
                let output = linear(("o_proj", Role::Layer), [d_model, d_q], llama.o_bias)?;
                (Projections::Heads([query, key, value]), output)
            }
            Some(latent) => {
                let name = format!("{name}.self_attn");
                let (latent, output) = Latent::load(weights, &name, config, llama, latent)?;
                (Projections::Latent(latent), output)
            }
        };
        Ok(Self {
            attention_norm,
            projections,
            output,
            query_norm: qk_norm("self_attn.q_norm", config.n_heads)?,
            key_norm: qk_norm("self_attn.k_norm", config.n_kv_heads)?,
            rope: llama.rope_of(index),
            scoring: llama.scoring(index, head_dim),
            sinks: llama.sinks.then(sinks).transpose()?,
            attention_output_norm: optional(names.after_attention)?,
            feed_forward_norm: optional(names.before_mlp)?,
            feed_forward: FeedForward::load(weights, name, config, llama, &layer.mlp)?,
            feed_forward_output_norm: optional(names.after_mlp)?,
            residual_scale: llama.residual_scale,
        })
    }

    // ANCHOR: block
    /// Adds what attention and the feed-forward network compute to `x`, `[seq, d_model]`.
    fn forward(
        &self,
        x: &mut Vec<f32>,
        angles: Option<&Angles>,
        layer: usize,
        pass: &mut Pass<'_>,
        scratch: &mut Scratch,
        watch: &mut Watch<'_>,
    ) {
        let Scratch { normed, q, k, v, gated, added } = scratch;
        let [d_model, _] = self.output.weights.shape();
        let seq = x.len() / d_model;

        normed.clone_from(x);
        norm(&self.attention_norm, normed);
        watch(Stop::AttentionInput, normed);
        match &self.projections {
            Projections::Heads(projections) => {
                linear(projections.each_ref(), normed, seq, [q, k, v])
            }
            Projections::Latent(latent) => latent.forward(normed, seq, [q, k, v]),
        }
        norm(&self.query_norm, q);
        norm(&self.key_norm, k);
        watch(Stop::Query, q);
        watch(Stop::Key, k);
        watch(Stop::Value, v);
        if let Some(angles) = angles {
            angles.rotate(q);
            angles.rotate(k);
            angles.grow(q);
        }
        watch(Stop::RotatedQuery, q);
        watch(Stop::RotatedKey, k);
        let mixed = pass.attend_in_blocks(layer, q, k, v, self.scoring());
        watch(Stop::Mixed, &mixed);
        let mixed = match &self.projections {
            Projections::Heads(_) => mixed,
            Projections::Latent(latent) => latent.values(&mixed),
        };
        linear([&self.output], &mixed, seq, [added]);
        norm(&self.attention_output_norm, added);
        scale(added, self.residual_scale);
        watch(Stop::Attention, added);
        add(x, added);
        watch(Stop::AfterAttention, x);

        normed.clone_from(x);
        norm(&self.feed_forward_norm, normed);
        watch(Stop::FeedForwardInput, normed);
        match &self.feed_forward {
            FeedForward::Dense(network) => network.forward(normed, seq, added, gated, watch),
            FeedForward::Experts(experts) => experts.forward(normed, seq, added, gated, watch),
        }
        norm(&self.feed_forward_output_norm, added);
        scale(added, self.residual_scale);
        watch(Stop::FeedForward, added);
        add(x, added);
        watch(Stop::Output, x);
    }
    // ANCHOR_END: block

    /// How attention scores.
    fn scoring(&self) -> Scoring<'_> {
        Scoring { sinks: self.sinks.as_deref(), ..self.scoring }
    }
}

impl FeedForward {
    fn load(
        weights: &dyn Source,
        layer: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
        mlp: &Mlp,
    ) -> Result<Self> {
        if let Mlp::Experts(experts) = mlp {
            return Experts::load(weights, layer, config, experts).map(Self::Experts);
        }
        let d_ff = config.d_ff;
        let whole = llama.fused.then_some("gate_up_proj");
        let [gate, up] = parts(["gate_proj", "up_proj"], [d_ff, d_ff], whole);
        let places = [gate, up, ("down_proj", Role::Layer)];
        let places = places.map(|(part, role)| (format!("{layer}.mlp.{part}"), role));
        Gated::load(weights, places, config, d_ff, llama.mlp_bias).map(Self::Dense)
    }
}

/// Applies a norm where there is one.
fn norm(norm: &Option<RmsNorm>, x: &mut [f32]) {
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
    fn load(
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

    /// Normalizes each vector of `[..., d]`.
    pub(super) fn apply(&self, x: &mut [f32]) {
        recorded::rms_norm(x, &self.weight, self.eps);
    }
}

impl Angles {
    /// Rotates queries or keys, `[seq, heads * head_dim]`.
    fn rotate(&self, x: &mut [f32]) {
        recorded::rotate(x, self.seq, self.head_dim, &self.cos, &self.sin);
    }

    /// Multiplies queries, `[seq, n_heads * head_dim]`, where they grow with their position.
    fn grow(&self, q: &mut [f32]) {
        let width = q.len() / self.seq;
        for (q, growth) in q.chunks_exact_mut(width).zip(self.growth.iter().flatten()) {
            q.iter_mut().for_each(|q| *q *= growth);
        }
    }
}
