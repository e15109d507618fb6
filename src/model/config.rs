//! The hyperparameters of a model.

use crate::error::{RequestError, Result};

/// The hyperparameters of a model, under the same names for all families.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// The architecture, with the hyperparameters that only its family has.
    pub family: Family,
    /// The number of tokens in the vocabulary.
    pub vocab_size: usize,
    /// The length of a hidden state (`hidden_size`).
    pub d_model: usize,
    /// The number of transformer blocks.
    pub n_layers: usize,
    /// How many query heads each block has.
    pub n_heads: usize,
    /// How many key/value heads; each serves `n_heads / n_kv_heads` query heads.
    pub n_kv_heads: usize,
    /// The length of one head's query, key and value.
    pub head_dim: usize,
    /// The inner size of the feed-forward network (`intermediate_size`).
    pub d_ff: usize,
    /// The context length: the most tokens in a sequence (`max_position_embeddings`).
    pub context_length: usize,
    /// The epsilon of the norms, which avoids a division by zero.
    pub norm_eps: f64,
    /// The activation of the feed-forward network.
    pub activation: Activation,
    /// Whether the head reuses the embedding matrix.
    pub tied_head: bool,
    /// The begin-of-sequence token, if the model has one.
    pub bos_token_id: Option<u32>,
    /// The end-of-sequence tokens.
    pub eos_token_ids: Vec<u32>,
}

/// The activation functions of the supported model families.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `x * sigmoid(x)`, also called swish (Elfwing et al., arXiv 1702.03118).
    Silu,
    /// `x * P(X <= x)` for a normal `X` (Hendrycks and Gimpel, arXiv 1606.08415).
    Gelu,
    /// The `tanh` approximation of GELU: close to [`Self::Gelu`], but not equal.
    GeluTanh,
}

impl Activation {
    /// The names that [`from_name`](Self::from_name) accepts.
    pub const NAMES: &'static str = "`silu`, `gelu`, `gelu_new` or `gelu_pytorch_tanh`";

    /// The activation function with this name in `config.json`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "silu" | "swish" => Some(Self::Silu),
            "gelu" => Some(Self::Gelu),
            "gelu_new" | "gelu_pytorch_tanh" => Some(Self::GeluTanh),
            _ => None,
        }
    }
}

/// The model families that this crate implements.
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

/// The differences between the members of the Llama family.
#[derive(Debug, Clone, PartialEq)]
pub struct LlamaConfig {
    /// The rotary position embedding.
    pub rope: RopeConfig,
    /// Whether the query, key and value projections have biases.
    pub qkv_bias: bool,
    /// Whether the output projection of attention has a bias.
    pub o_bias: bool,
    /// Whether the feed-forward network has biases.
    pub mlp_bias: bool,
    /// Whether each head's queries and keys are normalized by an RMSNorm (QK-norm).
    pub qk_norm: bool,
}

/// The frequencies of RoPE.
#[derive(Debug, Clone, PartialEq)]
pub struct RopeConfig {
    /// The base of the frequencies (`rope_theta`).
    pub theta: f64,
    /// The scaling that extends the context beyond the training length.
    pub scaling: RopeScaling,
}

/// Ways to scale RoPE to a longer context.
#[derive(Debug, Clone, PartialEq)]
pub enum RopeScaling {
    /// No scaling (`default`).
    None,
    /// All wavelengths are multiplied by `factor` (`linear`; Chen et al., arXiv 2306.15595).
    Linear { factor: f64 },
    /// Each wavelength is multiplied by a factor of its own, `[head_dim / 2]`, as GGUF files store
    /// the outcome of `llama3`.
    Factors(Vec<f32>),
    /// Long wavelengths are multiplied by `factor`, short ones are kept, those between are
    /// interpolated (`llama3`; Grattafiori et al., The Llama 3 Herd of Models, arXiv 2407.21783).
    Llama3 {
        factor: f64,
        /// A wavelength is long when fewer periods than this fit into the original context.
        low_freq_factor: f64,
        /// A wavelength is short when more periods than this fit.
        high_freq_factor: f64,
        /// The context length before scaling, in tokens (`original_max_position_embeddings`).
        original_context: f64,
    },
}

impl ModelConfig {
    /// How many query heads share one key/value head.
    pub fn group_size(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }

    /// As [`Model::check_prompt`](super::Model::check_prompt).
    pub(super) fn check_prompt(&self, prompt: &[u32]) -> Result<()> {
        self.check_ids(prompt)?;
        self.check_length(prompt)
    }

    pub(super) fn check_ids(&self, ids: &[u32]) -> Result<()> {
        let vocab_size = self.vocab_size;
        if ids.is_empty() {
            return Err(RequestError::EmptyPrompt.into());
        }
        match ids.iter().find(|&&id| id as usize >= vocab_size) {
            Some(&id) => Err(RequestError::TokenOutOfRange { id, vocab_size }.into()),
            None => Ok(()),
        }
    }

    pub(super) fn check_length(&self, ids: &[u32]) -> Result<()> {
        let (prompt, context) = (ids.len(), self.context_length);
        if prompt > context {
            return Err(RequestError::PromptTooLong { prompt, context }.into());
        }
        Ok(())
    }
}
