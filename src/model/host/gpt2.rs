//! GPT-2 on the CPU, as [`gpt2`](crate::model::gpt2) defines it.

use std::sync::Arc;

use super::{Linear, Stop, Watch, add, embedding, head, linear, numbered};
use crate::activation::Activation;
use crate::adapter::Sites;
use crate::error::Result;
use crate::kernels::{Panels, Scoring, recorded};
use crate::model::architecture::embedding_name;
use crate::model::config::ModelConfig;
use crate::model::gpt2::PREFIXES;
use crate::model::pass::Pass;
use crate::model::source::{Role, Source};

/// A GPT-2.
#[derive(Debug)]
pub(in crate::model) struct Gpt2 {
    tokens: Panels,
    positions: Panels,
    blocks: Vec<Block>,
    norm: LayerNorm,
    /// None where the head is tied to the embedding matrix.
    head: Option<Panels>,
    sites: Arc<Sites>,
}

/// A transformer block.
#[derive(Debug)]
struct Block {
    attention_norm: LayerNorm,
    /// The query, key and value projections as one matrix.
    qkv: Linear,
    output: Linear,
    feed_forward_norm: LayerNorm,
    up: Linear,
    down: Linear,
    activation: Activation,
    scoring: Scoring<'static>,
}

#[derive(Debug)]
struct LayerNorm {
    /// `[d]`
    weight: Vec<f32>,
    /// `[d]`
    bias: Vec<f32>,
    eps: f32,
}

/// The vectors of a block, `[seq, width]`. All blocks of a pass use the same memory.
#[derive(Default)]
struct Scratch {
    normed: Vec<f32>,
    /// `[seq, 3 * d_model]`
    qkv: Vec<f32>,
    up: Vec<f32>,
    /// What a part adds to the residual stream.
    added: Vec<f32>,
}

impl Gpt2 {
    pub(super) fn load(weights: &dyn Source, config: &ModelConfig) -> Result<Self> {
        let (vocab, d_model) = (config.vocab_size, config.d_model);
        let prefix = weights.prefix(&PREFIXES, "wte.weight");
        let name = |part: &str| format!("{prefix}{part}");
        let block = |i| Block::load(weights, &name(&format!("h.{i}")), config);
        let tokens = embedding_name(weights, config, &PREFIXES, "wte");
        let embedding = |name: &str, rows| weights.panels(name, [rows, d_model], Role::Embedding);
        let mut network = Self {
            tokens: embedding(&format!("{tokens}.weight"), vocab)?,
            positions: embedding(&name("wpe.weight"), config.context_length)?,
            blocks: (0..config.n_layers).map(block).collect::<Result<_>>()?,
            norm: LayerNorm::load(weights, &name("ln_f"), config)?,
            head: if config.tied_head {
                None
            } else {
                Some(embedding("lm_head.weight", vocab)?)
            },
            sites: Arc::default(),
        };
        network.sites = numbered(network.blocks.iter_mut().flat_map(Block::linears));
        Ok(network)
    }

    /// The linear layers that adapters can change.
    pub(super) fn sites(&self) -> &Arc<Sites> {
        &self.sites
    }

    /// The hidden states after the last norm, `[seq, d_model]`.
    pub(super) fn hidden_states(
        &self,
        row: &[u32],
        pass: &mut Pass<'_>,
        watch: &mut Watch<'_>,
    ) -> Vec<f32> {
        let mut x = embedding(&self.tokens, row);
        add(&mut x, &recorded::embedding(&self.positions, pass.positions().into_iter()));
        let mut scratch = Scratch::default();
        for (i, block) in self.blocks.iter().enumerate() {
            block.forward(&mut x, i, pass, &mut scratch, watch);
        }
        self.norm.apply(&mut x);
        x
    }

    /// The head: `[rows, d_model]` -> `[rows, vocab]`.
    pub(super) fn logits(&self, hidden: &[f32], rows: usize) -> Vec<f32> {
        head(self.head.as_ref().unwrap_or(&self.tokens), hidden, rows)
    }
}

impl Block {
    fn load(weights: &dyn Source, name: &str, config: &ModelConfig) -> Result<Self> {
        let (d_model, d_ff) = (config.d_model, config.d_ff);
        let linear = |part: &str, shape| {
            Linear::load(weights, &format!("{name}.{part}"), shape, Role::Transposed, true)
        };
        let norm = |part: &str| LayerNorm::load(weights, &format!("{name}.{part}"), config);
        Ok(Self {
            attention_norm: norm("ln_1")?,
            qkv: linear("attn.c_attn", [3 * d_model, d_model])?,
            output: linear("attn.c_proj", [d_model, d_model])?,
            feed_forward_norm: norm("ln_2")?,
            up: linear("mlp.c_fc", [d_ff, d_model])?,
            down: linear("mlp.c_proj", [d_model, d_ff])?,
            activation: config.activation,
            scoring: Scoring::new(config.head_dim),
        })
    }

    /// The linear layers that adapters can change.
    fn linears(&mut self) -> [&mut Linear; 4] {
        [
            &mut self.qkv,
            &mut self.output,
            &mut self.up,
            &mut self.down,
        ]
    }

    /// Adds what attention and the feed-forward network compute to `x`, `[seq, d_model]`.
    fn forward(
        &self,
        x: &mut Vec<f32>,
        layer: usize,
        pass: &mut Pass<'_>,
        scratch: &mut Scratch,
        watch: &mut Watch<'_>,
    ) {
        let Scratch { normed, qkv, up, added } = scratch;
        let d_model = self.attention_norm.weight.len();
        let rows = &pass.rows();

        normed.clone_from(x);
        self.attention_norm.apply(normed);
        linear([&self.qkv], normed, rows, [qkv]);
        let [q, k, v] = [0, 1, 2].map(|part| {
            let rows = qkv.chunks_exact(3 * d_model);
            rows.flat_map(|row| &row[part * d_model..][..d_model]).copied().collect::<Vec<_>>()
        });
        watch(Stop::RotatedQuery, &q);
        watch(Stop::RotatedKey, &k);
        let mixed = pass.attend_in_blocks(layer, &q, &k, &v, self.scoring);
        linear([&self.output], &mixed, rows, [added]);
        add(x, added);

        normed.clone_from(x);
        self.feed_forward_norm.apply(normed);
        linear([&self.up], normed, rows, [up]);
        recorded::activate(up, self.activation);
        linear([&self.down], up, rows, [added]);
        add(x, added);
    }
}

impl LayerNorm {
    fn load(weights: &dyn Source, name: &str, config: &ModelConfig) -> Result<Self> {
        let vector =
            |part: &str| weights.numbers(&format!("{name}.{part}"), config.d_model, Role::Layer);
        Ok(Self {
            weight: vector("weight")?,
            bias: vector("bias")?,
            eps: config.norm_eps as f32,
        })
    }

    /// Normalizes each vector of `[..., d]`.
    fn apply(&self, x: &mut [f32]) {
        recorded::layer_norm(x, &self.weight, &self.bias, self.eps);
    }
}
