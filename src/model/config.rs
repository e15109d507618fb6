//! The shape of a model.

use super::activation::Activation;

/// The sizes and constants of a model, under one name for all families.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// How the parts are put together, and what only this family has.
    pub family: Family,
    /// How many tokens the model knows.
    pub vocab_size: usize,
    /// The length of the vector that stands for one token (`hidden_size`).
    pub d_model: usize,
    /// How many blocks lie on top of each other.
    pub n_layers: usize,
    /// How many query heads each block has.
    pub n_heads: usize,
    /// How many key/value heads; each serves `n_heads / n_kv_heads` query heads.
    pub n_kv_heads: usize,
    /// The length of one head's query, key and value.
    pub head_dim: usize,
    /// The inner size of the feed-forward network (`intermediate_size`).
    pub d_ff: usize,
    /// The longest sequence the model was made for (`max_position_embeddings`).
    pub context_length: usize,
    /// What the norms add to the mean square, so that they never divide by zero.
    pub norm_eps: f64,
    /// The activation of the feed-forward network.
    pub activation: Activation,
    /// Whether the head reuses the embedding matrix.
    pub tied_head: bool,
    /// The token that begins a sequence, if the model has one.
    pub bos_token_id: Option<u32>,
    /// The tokens that end a sequence.
    pub eos_token_ids: Vec<u32>,
}

/// The networks that this crate computes.
#[derive(Debug, Clone, PartialEq)]
pub enum Family {
    /// RMSNorm, RoPE, grouped-query attention, a gated feed-forward network: `llama`,
    /// `mistral`, `qwen2`, `qwen3`.
    Llama(LlamaConfig),
    /// LayerNorm, learned positions, multi-head attention, a plain feed-forward network:
    /// `gpt2`.
    Gpt2,
    /// Assembled from Burn's own `TransformerEncoder`. No `config.json` describes it.
    Encoder,
}

/// In what the members of the Llama family differ from each other.
#[derive(Debug, Clone, PartialEq)]
pub struct LlamaConfig {
    /// How positions turn queries and keys.
    pub rope: RopeConfig,
    /// Whether queries, keys and values have biases.
    pub qkv_bias: bool,
    /// Whether the output of attention has a bias.
    pub o_bias: bool,
    /// Whether the feed-forward network has biases.
    pub mlp_bias: bool,
    /// Whether each head's queries and keys go through an RMSNorm of their own.
    pub qk_norm: bool,
}

/// The wavelengths of RoPE.
#[derive(Debug, Clone, PartialEq)]
pub struct RopeConfig {
    /// The base of the wavelengths.
    pub theta: f64,
    /// How they are stretched, so that a model reads on beyond the length it was trained on.
    pub scaling: RopeScaling,
}

/// Ways to stretch the wavelengths of RoPE.
#[derive(Debug, Clone, PartialEq)]
pub enum RopeScaling {
    /// As they are (`default`).
    None,
    /// All of them by this factor (`linear`; Chen et al., arXiv 2306.15595).
    Linear { factor: f64 },
    /// The long ones by a factor, the short ones not at all, and those between in part
    /// (`llama3`; Grattafiori et al., The Llama 3 Herd of Models, arXiv 2407.21783).
    Llama3 {
        factor: f64,
        /// A wavelength is long when fewer turns than this fit into the original context.
        low_freq_factor: f64,
        /// It is short when more turns than this fit.
        high_freq_factor: f64,
        /// The context before stretching, in tokens (`original_max_position_embeddings`).
        original_context: f64,
    },
}

impl ModelConfig {
    /// How many query heads share one key/value head.
    pub fn group_size(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }
}
