//! The Llama family on the CPU, as [`decoder`](crate::model::decoder) defines it.

use super::{Linear, Stop, Watch, add, bend_of, embedding, head, linear};
use crate::error::Result;
use crate::kernels::{Bend, Panels, recorded};
use crate::model::config::{LlamaConfig, ModelConfig};
use crate::model::pass::Pass;
use crate::model::rope::Rope;
use crate::model::source::{Role, Source};

/// A Llama-style decoder.
#[derive(Debug)]
pub(in crate::model) struct Llama {
    embedding: Panels,
    blocks: Vec<Block>,
    norm: RmsNorm,
    /// None where the head is tied to the embedding matrix.
    head: Option<Panels>,
    rope: Rope,
    head_dim: usize,
}

/// A transformer block.
#[derive(Debug)]
struct Block {
    attention_norm: RmsNorm,
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    query_norm: Option<RmsNorm>,
    key_norm: Option<RmsNorm>,
    feed_forward_norm: RmsNorm,
    gate: Linear,
    up: Linear,
    down: Linear,
    activation: Bend,
}

#[derive(Debug)]
struct RmsNorm {
    /// `[d]`
    weight: Vec<f32>,
    eps: f32,
}

/// The RoPE angles of the positions in a pass.
struct Angles {
    head_dim: usize,
    /// `[seq, head_dim / 2]`
    cos: Vec<f32>,
    /// `[seq, head_dim / 2]`
    sin: Vec<f32>,
}

/// The vectors of a block, `[seq, width]`. All blocks of a pass use the same memory.
#[derive(Default)]
struct Scratch {
    normed: Vec<f32>,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
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
        let prefix = weights.prefix(["model.", ""], "embed_tokens.weight");
        let name = |part: &str| format!("{prefix}{part}");
        let block = |i| Block::load(weights, &name(&format!("layers.{i}")), config, llama);
        Ok(Self {
            embedding: weights.panels(&name("embed_tokens.weight"), shape, Role::Embedding)?,
            blocks: (0..config.n_layers).map(block).collect::<Result<_>>()?,
            norm: RmsNorm::load(weights, &name("norm"), config.d_model, config.norm_eps)?,
            head: if config.tied_head {
                None
            } else {
                Some(weights.panels("lm_head.weight", shape, Role::Embedding)?)
            },
            rope: Rope::new(&llama.rope, config.head_dim),
            head_dim: config.head_dim,
        })
    }

    /// The hidden states after the last norm, `[seq, d_model]`.
    pub(in crate::model) fn hidden_states(
        &self,
        row: &[u32],
        pass: &mut Pass<'_>,
        watch: &mut Watch<'_>,
    ) -> Vec<f32> {
        let [cos, sin] = self.rope.tables(&pass.positions());
        let angles = Angles { head_dim: self.head_dim, cos, sin };
        let mut x = self.embed(row);
        let mut scratch = Scratch::default();
        for (i, block) in self.blocks.iter().enumerate() {
            block.forward(&mut x, &angles, i, pass, &mut scratch, watch);
        }
        self.norm.apply(&mut x);
        x
    }

    /// The embeddings of token ids: `[seq, d_model]`.
    pub(in crate::model) fn embed(&self, row: &[u32]) -> Vec<f32> {
        embedding(&self.embedding, row)
    }

    /// The head: `[rows, d_model]` -> `[rows, vocab]`.
    pub(in crate::model) fn logits(&self, hidden: &[f32], rows: usize) -> Vec<f32> {
        head(self.head.as_ref().unwrap_or(&self.embedding), hidden, rows)
    }
}

impl Block {
    fn load(
        weights: &dyn Source,
        name: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
    ) -> Result<Self> {
        let (d_model, d_ff, head_dim) = (config.d_model, config.d_ff, config.head_dim);
        let (d_q, d_kv) = (config.n_heads * head_dim, config.n_kv_heads * head_dim);
        let linear = |part: &str, shape, bias| {
            Linear::load(weights, &format!("{name}.{part}"), shape, Role::Layer, bias)
        };
        let norm =
            |part: &str, d| RmsNorm::load(weights, &format!("{name}.{part}"), d, config.norm_eps);
        let head_norm = |part: &str| llama.qk_norm.then(|| norm(part, head_dim)).transpose();
        // In the order of the decoder, so that random weights are the same.
        Ok(Self {
            attention_norm: norm("input_layernorm", d_model)?,
            query: linear("self_attn.q_proj", [d_q, d_model], llama.qkv_bias)?,
            key: linear("self_attn.k_proj", [d_kv, d_model], llama.qkv_bias)?,
            value: linear("self_attn.v_proj", [d_kv, d_model], llama.qkv_bias)?,
            output: linear("self_attn.o_proj", [d_model, d_q], llama.o_bias)?,
            query_norm: head_norm("self_attn.q_norm")?,
            key_norm: head_norm("self_attn.k_norm")?,
            feed_forward_norm: norm("post_attention_layernorm", d_model)?,
            gate: linear("mlp.gate_proj", [d_ff, d_model], llama.mlp_bias)?,
            up: linear("mlp.up_proj", [d_ff, d_model], llama.mlp_bias)?,
            down: linear("mlp.down_proj", [d_model, d_ff], llama.mlp_bias)?,
            activation: bend_of(config.activation),
        })
    }

    // ANCHOR: block
    /// Adds what attention and the feed-forward network compute to `x`, `[seq, d_model]`.
    fn forward(
        &self,
        x: &mut Vec<f32>,
        angles: &Angles,
        layer: usize,
        pass: &mut Pass<'_>,
        scratch: &mut Scratch,
        watch: &mut Watch<'_>,
    ) {
        let Scratch { normed, q, k, v, gate, up, added } = scratch;
        let seq = angles.seq();

        normed.clone_from(x);
        self.attention_norm.apply(normed);
        watch(Stop::AttentionInput, normed);
        linear([&self.query, &self.key, &self.value], normed, seq, [q, k, v]);
        for (x, norm) in [(&mut *q, &self.query_norm), (&mut *k, &self.key_norm)] {
            norm.iter().for_each(|norm| norm.apply(x));
        }
        watch(Stop::Query, q);
        watch(Stop::Key, k);
        watch(Stop::Value, v);
        angles.rotate(q);
        angles.rotate(k);
        watch(Stop::RotatedQuery, q);
        watch(Stop::RotatedKey, k);
        let mixed = pass.attend_in_blocks(layer, q, k, v);
        watch(Stop::Mixed, &mixed);
        linear([&self.output], &mixed, seq, [added]);
        watch(Stop::Attention, added);
        add(x, added);
        watch(Stop::AfterAttention, x);

        normed.clone_from(x);
        self.feed_forward_norm.apply(normed);
        watch(Stop::FeedForwardInput, normed);
        linear([&self.gate, &self.up], normed, seq, [gate, up]);
        watch(Stop::Gate, gate);
        watch(Stop::Up, up);
        recorded::bend_times(gate, up, self.activation);
        watch(Stop::Gated, gate);
        linear([&self.down], gate, seq, [added]);
        watch(Stop::FeedForward, added);
        add(x, added);
        watch(Stop::Output, x);
    }
    // ANCHOR_END: block
}

impl RmsNorm {
    fn load(weights: &dyn Source, name: &str, d: usize, eps: f64) -> Result<Self> {
        let weight = weights.numbers(&format!("{name}.weight"), d)?;
        Ok(Self { weight, eps: eps as f32 })
    }

    /// Normalizes each vector of `[..., d]`.
    fn apply(&self, x: &mut [f32]) {
        recorded::rms_norm(x, &self.weight, self.eps);
    }
}

impl Angles {
    fn seq(&self) -> usize {
        self.cos.len() / (self.head_dim / 2)
    }

    /// Rotates queries or keys, `[seq, heads * head_dim]`.
    fn rotate(&self, x: &mut [f32]) {
        recorded::rotate(x, self.seq(), self.head_dim, &self.cos, &self.sin);
    }
}
