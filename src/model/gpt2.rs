//! GPT-2: the same stack of blocks as [`decoder`](super::decoder), with the layers of 2019 (Radford
//! et al., Language Models are Unsupervised Multitask Learners).
//!
//! Compared with the Llama family: learned position embeddings instead of RoPE, LayerNorm instead
//! of RMSNorm, multi-head attention instead of grouped-query attention, no gate in the feed-forward
//! network, and biases in all linear layers.

use burn::module::{Module, Param};
use burn::tensor::{Int, Tensor, TensorData, s};

use super::activation::Activation;
use super::architecture::embedding_name;
use super::attention::{merge_heads, split_heads};
use super::config::ModelConfig;
use super::embedding::Embedding;
use super::linear::{Linear, Weight};
use super::norm::LayerNorm;
use super::pass::Pass;
use super::source::{LoadLinear, LoadMatrix, LoadVector, Role, Source};
use crate::error::Result;
use crate::kernels::Scoring;

/// What stands before the names of its tensors.
pub(super) const PREFIXES: [&str; 2] = ["transformer.", ""];

/// A GPT-2. Its fields are named as in a Hugging Face checkpoint.
#[derive(Module, Debug)]
pub struct Gpt2<L = Linear, V = Param<Tensor<1>>, M = Weight> {
    /// The token embeddings.
    pub(super) wte: Embedding<M>,
    /// The position embeddings.
    pub(super) wpe: Embedding<M>,
    pub(super) h: Vec<Block<L, V>>,
    pub(super) ln_f: LayerNorm<V>,
    /// None where the head is tied to the embedding matrix.
    pub(super) lm_head: Option<L>,
}

/// A transformer block: attention, then a feed-forward network, each with a residual connection.
#[derive(Module, Debug)]
pub struct Block<L = Linear, V = Param<Tensor<1>>> {
    pub(super) ln_1: LayerNorm<V>,
    pub(super) attn: Attention<L>,
    pub(super) ln_2: LayerNorm<V>,
    pub(super) mlp: FeedForward<L>,
}

/// Multi-head attention.
#[derive(Module, Debug)]
pub struct Attention<L = Linear> {
    /// The query, key and value projections as one matrix.
    pub(super) c_attn: L,
    pub(super) c_proj: L,
    pub(super) head_dim: usize,
}

/// `c_proj(gelu(c_fc(x)))`
#[derive(Module, Debug)]
pub struct FeedForward<L = Linear> {
    pub(super) c_fc: L,
    pub(super) c_proj: L,
    #[module(skip)]
    pub(super) activation: Activation,
}

impl<L: LoadLinear, V: LoadVector, M: LoadMatrix> Gpt2<L, V, M> {
    /// Loads the tensors that `config` requires from `weights`.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape or type.
    pub fn load(weights: &dyn Source, config: &ModelConfig) -> Result<Self> {
        let (vocab, d_model) = (config.vocab_size, config.d_model);
        let prefix = weights.prefix(&PREFIXES, "wte.weight");
        let name = |part: &str| format!("{prefix}{part}");
        let embedding = embedding_name(weights, config, &PREFIXES, "wte");
        let block = |i| Block::load(weights, &name(&format!("h.{i}")), config);
        Ok(Self {
            wte: Embedding::load(weights, &embedding, vocab, d_model)?,
            wpe: Embedding::load(weights, &name("wpe"), config.context_length, d_model)?,
            h: (0..config.n_layers).map(block).collect::<Result<_>>()?,
            ln_f: LayerNorm::load(weights, &name("ln_f"), d_model, config.norm_eps)?,
            lm_head: if config.tied_head {
                None
            } else {
                Some(L::load(weights, "lm_head", [vocab, d_model], Role::Embedding, false)?)
            },
        })
    }
}

impl Gpt2 {
    /// Whether a checkpoint often holds a tensor of this name that [`load`](Self::load) does not
    /// take: the causal mask, which older versions of transformers stored in every layer.
    pub(super) fn can_do_without(name: &str) -> bool {
        name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias")
    }

    /// As [`Decoder::hidden_states`](super::decoder::Decoder::hidden_states): `[batch, seq]` ->
    /// `[batch, seq, d_model]`.
    pub fn hidden_states(&self, ids: Tensor<2, Int>, pass: &mut Pass<'_>) -> Tensor<3> {
        let positions: Vec<i32> = pass.positions().iter().map(|&at| at as i32).collect();
        let shape = [1, positions.len()];
        let positions = Tensor::from_data(TensorData::new(positions, shape), &ids.device());

        let mut x = self.wte.forward(ids) + self.wpe.forward(positions);
        for (i, block) in self.h.iter().enumerate() {
            x = block.forward(x, i, pass);
        }
        self.ln_f.forward(x)
    }

    /// The head: `[batch, seq, d_model]` -> logits `[batch, seq, vocab]`.
    pub fn logits(&self, hidden: Tensor<3>) -> Tensor<3> {
        match &self.lm_head {
            Some(head) => head.forward(hidden),
            None => self.wte.tied_head().forward(hidden),
        }
    }
}

impl<L: LoadLinear, V: LoadVector> Block<L, V> {
    fn load(weights: &dyn Source, name: &str, config: &ModelConfig) -> Result<Self> {
        let norm = |part: &str| {
            let name = format!("{name}.{part}");
            LayerNorm::load(weights, &name, config.d_model, config.norm_eps)
        };
        Ok(Self {
            ln_1: norm("ln_1")?,
            attn: Attention::load(weights, &format!("{name}.attn"), config)?,
            ln_2: norm("ln_2")?,
            mlp: FeedForward::load(weights, &format!("{name}.mlp"), config)?,
        })
    }
}

impl Block {
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    fn forward(&self, x: Tensor<3>, layer: usize, pass: &mut Pass<'_>) -> Tensor<3> {
        let x = x.clone() + self.attn.forward(self.ln_1.forward(x), layer, pass);
        x.clone() + self.mlp.forward(self.ln_2.forward(x))
    }
}

impl<L: LoadLinear> Attention<L> {
    fn load(weights: &dyn Source, name: &str, config: &ModelConfig) -> Result<Self> {
        let d_model = config.d_model;
        let linear = |part: &str, n_out| {
            let shape = [n_out, d_model];
            L::load(weights, &format!("{name}.{part}"), shape, Role::Transposed, true)
        };
        Ok(Self {
            c_attn: linear("c_attn", 3 * d_model)?,
            c_proj: linear("c_proj", d_model)?,
            head_dim: config.head_dim,
        })
    }
}

impl Attention {
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    fn forward(&self, x: Tensor<3>, layer: usize, pass: &mut Pass<'_>) -> Tensor<3> {
        let [_, _, d_model] = x.dims();
        let qkv = self.c_attn.forward(x); // [batch, seq, 3 * d_model]
        let part = |i: usize| {
            let columns = i * d_model..(i + 1) * d_model;
            split_heads(qkv.clone().slice(s![.., .., columns]), self.head_dim)
        };
        let qkv = [part(0), part(1), part(2)];
        let mixed = pass.attend(layer, qkv, Scoring::new(self.head_dim), None);
        self.c_proj.forward(merge_heads(mixed))
    }
}

impl<L: LoadLinear> FeedForward<L> {
    fn load(weights: &dyn Source, name: &str, config: &ModelConfig) -> Result<Self> {
        let (d_model, d_ff) = (config.d_model, config.d_ff);
        let linear = |part: &str, shape| {
            L::load(weights, &format!("{name}.{part}"), shape, Role::Transposed, true)
        };
        Ok(Self {
            c_fc: linear("c_fc", [d_ff, d_model])?,
            c_proj: linear("c_proj", [d_model, d_ff])?,
            activation: config.activation,
        })
    }
}

impl FeedForward {
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        self.c_proj.forward(self.activation.forward(self.c_fc.forward(x)))
    }
}
