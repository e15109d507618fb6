//! The Llama family: token ids in, logits out.

use burn::module::Module;
use burn::tensor::{Int, Tensor};

use super::attention::Attention;
use super::config::{LlamaConfig, ModelConfig};
use super::embedding::Embedding;
use super::feed_forward::FeedForward;
use super::linear::Linear;
use super::norm::RmsNorm;
use super::pass::Pass;
use super::rope::{Rope, Rotation};
use super::source::{Role, Source};
use crate::error::Result;

/// A Llama-style decoder. Its fields are named as in a Hugging Face checkpoint.
#[derive(Module, Debug)]
pub struct Decoder {
    pub(super) embed_tokens: Embedding,
    pub(super) layers: Vec<Block>,
    pub(super) norm: RmsNorm,
    /// None where the head is tied to the embedding matrix.
    lm_head: Option<Linear>,
}

/// A transformer block: attention moves information between positions, then the feed-forward
/// network transforms each position. Both have a residual connection.
#[derive(Module, Debug)]
pub(super) struct Block {
    pub(super) input_layernorm: RmsNorm,
    pub(super) self_attn: Attention,
    pub(super) post_attention_layernorm: RmsNorm,
    pub(super) mlp: FeedForward,
}

impl Decoder {
    /// Loads the tensors that `config` requires from `weights`.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape or type.
    pub fn load(weights: &dyn Source, config: &ModelConfig, llama: &LlamaConfig) -> Result<Self> {
        let (vocab, d_model) = (config.vocab_size, config.d_model);
        let prefix = weights.prefix(["model.", ""], "embed_tokens.weight");
        let name = |part: &str| format!("{prefix}{part}");
        let layer = |i| Block::load(weights, &name(&format!("layers.{i}")), config, llama);
        Ok(Self {
            embed_tokens: Embedding::load(weights, &name("embed_tokens"), vocab, d_model)?,
            layers: (0..config.n_layers).map(layer).collect::<Result<_>>()?,
            norm: RmsNorm::load(weights, &name("norm"), d_model, config.norm_eps)?,
            lm_head: if config.tied_head {
                None
            } else {
                Some(Linear::load(weights, "lm_head", [vocab, d_model], Role::Embedding, false)?)
            },
        })
    }

    /// Whether a checkpoint often holds a tensor of this name that [`load`](Self::load) does not
    /// take: the RoPE frequencies, which older versions of transformers stored, and the head where
    /// it is tied.
    pub(super) fn can_do_without(name: &str) -> bool {
        name.ends_with("rotary_emb.inv_freq") || name == "lm_head.weight"
    }

    // ANCHOR: hidden
    /// Runs all layers over `ids`, `[batch, seq]`, and returns the hidden states of all positions
    /// before the head: `[batch, seq, d_model]`.
    ///
    /// `pass` assigns the positions to sequences, and holds their KV caches.
    pub fn hidden_states(
        &self,
        ids: Tensor<2, Int>,
        rope: &Rope,
        pass: &mut Pass<'_>,
    ) -> Tensor<3> {
        let rotation = rope.rotation(&pass.positions(), &ids.device());
        let mut x = self.embed_tokens.forward(ids);
        for (i, layer) in self.layers.iter().enumerate() {
            x = layer.forward(x, &rotation, i, pass);
        }
        self.norm.forward(x)
    }

    /// The head: `[batch, seq, d_model]` -> logits `[batch, seq, vocab]`.
    pub fn logits(&self, hidden: Tensor<3>) -> Tensor<3> {
        match &self.lm_head {
            Some(head) => head.forward(hidden),
            None => self.embed_tokens.tied_head().forward(hidden),
        }
    }
    // ANCHOR_END: hidden
}

impl Block {
    fn load(
        weights: &dyn Source,
        name: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
    ) -> Result<Self> {
        let norm = |part: &str| {
            let name = format!("{name}.{part}");
            RmsNorm::load(weights, &name, config.d_model, config.norm_eps)
        };
        Ok(Self {
            input_layernorm: norm("input_layernorm")?,
            self_attn: Attention::load(weights, &format!("{name}.self_attn"), config, llama)?,
            post_attention_layernorm: norm("post_attention_layernorm")?,
            mlp: FeedForward::load(weights, &format!("{name}.mlp"), config, llama)?,
        })
    }

    // ANCHOR: block
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    fn forward(
        &self,
        x: Tensor<3>,
        rotation: &Rotation,
        layer: usize,
        pass: &mut Pass<'_>,
    ) -> Tensor<3> {
        let normed = self.input_layernorm.forward(x.clone());
        let x = x + self.self_attn.forward(normed, rotation, layer, pass);
        let normed = self.post_attention_layernorm.forward(x.clone());
        x + self.mlp.forward(normed)
    }
    // ANCHOR_END: block
}
