//! The shape of a model, as `config.json` gives it.

mod file;
mod gpt2;
mod llama;

use burn::tensor::DType;
use serde::Deserialize;
use serde_json::Value;

use super::activation::Activation;
use crate::error::{Error, Result};

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
    /// What the frequencies are rounded to before they are used. Checkpoints do not hold them,
    /// so F32 loses nothing, and it is what a checkpoint is loaded with. F16 or BF16 gives the
    /// answers of a PyTorch model that was cast as a whole (`model.to(torch.bfloat16)`), which
    /// rounds them too.
    pub rounded_to: DType,
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
    /// Reads a `config.json` of Hugging Face's form. `origin` names it in errors.
    ///
    /// # Errors
    /// JSON of another kind, and any field whose value is not computed here: an unknown
    /// `model_type`, activation or RoPE scaling, quantization, experts, a sliding window.
    pub fn from_json(json: &[u8], origin: &str) -> Result<Self> {
        let kind: Kind = parse(json, origin)?;
        kind.check_supported(origin)?;
        let config = match kind.model_type.as_str() {
            "llama" | "mistral" | "qwen2" | "qwen3" => llama::read(&kind.model_type, json, origin)?,
            "gpt2" => gpt2::read(json, origin)?,
            other => {
                let known = "`llama`, `mistral`, `qwen2`, `qwen3` or `gpt2`";
                return Err(unsupported(origin, "model_type", other, known));
            }
        };
        config.check_sizes(origin)?;
        Ok(config)
    }

    /// How many query heads share one key/value head.
    pub fn group_size(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }

    fn check_sizes(&self, origin: &str) -> Result<()> {
        // The names of the Llama family; GPT-2's `n_embd` and so on mean the same.
        let sizes = [
            ("vocab_size", self.vocab_size),
            ("hidden_size", self.d_model),
            ("num_hidden_layers", self.n_layers),
            ("num_attention_heads", self.n_heads),
            ("num_key_value_heads", self.n_kv_heads),
            ("head_dim", self.head_dim),
            ("intermediate_size", self.d_ff),
            ("max_position_embeddings", self.context_length),
        ];
        for (field, size) in sizes {
            if size == 0 || size > i32::MAX as usize {
                return Err(unsupported(origin, field, size, "a size from 1 to 2^31 - 1"));
            }
        }
        if matches!(self.family, Family::Llama(_)) && !self.head_dim.is_multiple_of(2) {
            let even = "an even size (RoPE turns pairs)";
            return Err(unsupported(origin, "head_dim", self.head_dim, even));
        }
        if !self.n_heads.is_multiple_of(self.n_kv_heads) {
            let divisor = "a divisor of num_attention_heads";
            return Err(unsupported(origin, "num_key_value_heads", self.n_kv_heads, divisor));
        }
        Ok(())
    }
}

/// What decides how the rest of a `config.json` is read, or that it is not.
#[derive(Debug, Deserialize)]
struct Kind {
    model_type: String,
    quantization_config: Option<Value>,
    num_experts: Option<Value>,
    num_local_experts: Option<Value>,
    n_routed_experts: Option<Value>,
}

impl Kind {
    fn check_supported(&self, origin: &str) -> Result<()> {
        if let Some(value) = &self.quantization_config {
            let plain = "a checkpoint of plain F32, F16 or BF16 weights, without this field,";
            return Err(unsupported(origin, "quantization_config", value.clone(), plain));
        }
        for (field, value) in [
            ("num_experts", &self.num_experts),
            ("num_local_experts", &self.num_local_experts),
            ("n_routed_experts", &self.n_routed_experts),
        ] {
            if let Some(value) = value.as_ref().filter(|value| *value != 0) {
                let dense = "a model without experts";
                return Err(unsupported(origin, field, value.clone(), dense));
            }
        }
        Ok(())
    }
}

/// The tokens that begin and end a sequence, when `generation_config.json` gives them: they
/// override those of `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct GenerationConfig {
    bos_token_id: Option<u32>,
    eos_token_id: Option<OneOrMany>,
}

impl GenerationConfig {
    pub(crate) fn from_json(json: &[u8], origin: &str) -> Result<Self> {
        parse(json, origin)
    }

    pub(crate) fn apply(self, config: &mut ModelConfig) {
        if let Some(bos) = self.bos_token_id {
            config.bos_token_id = Some(bos);
        }
        if let Some(eos) = self.eos_token_id {
            config.eos_token_ids = eos.into_vec();
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(u32),
    Many(Vec<u32>),
}

impl OneOrMany {
    fn into_vec(self) -> Vec<u32> {
        match self {
            OneOrMany::One(id) => vec![id],
            OneOrMany::Many(ids) => ids,
        }
    }
}

fn parse<T: serde::de::DeserializeOwned>(json: &[u8], origin: &str) -> Result<T> {
    serde_json::from_slice(json).map_err(|source| Error::Json { origin: origin.to_owned(), source })
}

/// The value is shown as JSON, which keeps it on one line.
fn unsupported(
    origin: &str,
    field: &'static str,
    value: impl Into<Value>,
    supported: &'static str,
) -> Error {
    Error::Unsupported {
        origin: origin.to_owned(),
        field,
        value: value.into().to_string(),
        supported,
    }
}
