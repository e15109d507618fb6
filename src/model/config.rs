//! The shape of a model, as `config.json` gives it.

use serde::Deserialize;

use crate::error::{Error, Result};

/// The sizes and constants of a Llama-style decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
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
    /// What RMSNorm adds to the mean square, so that it never divides by zero.
    pub rms_norm_eps: f64,
    /// The base of the RoPE wavelengths.
    pub rope_theta: f64,
    /// Whether the head reuses the embedding matrix.
    pub tied_head: bool,
    /// The token that begins a sequence, if the model has one.
    pub bos_token_id: Option<u32>,
    /// The tokens that end a sequence.
    pub eos_token_ids: Vec<u32>,
}

impl ModelConfig {
    /// Reads a `config.json` of Hugging Face's form. `origin` names it in errors.
    ///
    /// # Errors
    /// JSON of another kind, and any field whose value this decoder does not compute: an
    /// unknown `model_type`, `hidden_act`, RoPE scaling, biases, quantization.
    pub fn from_json(json: &[u8], origin: &str) -> Result<Self> {
        let raw: RawConfig = parse(json, origin)?;
        raw.check_supported(origin)?;
        let head_dim = match raw.head_dim {
            Some(head_dim) => head_dim,
            None => raw.hidden_size / raw.num_attention_heads.max(1),
        };
        let config = ModelConfig {
            vocab_size: raw.vocab_size,
            d_model: raw.hidden_size,
            n_layers: raw.num_hidden_layers,
            n_heads: raw.num_attention_heads,
            n_kv_heads: raw.num_key_value_heads.unwrap_or(raw.num_attention_heads),
            head_dim,
            d_ff: raw.intermediate_size,
            context_length: raw.max_position_embeddings,
            rms_norm_eps: raw.rms_norm_eps,
            rope_theta: raw.rope_theta(),
            tied_head: raw.tie_word_embeddings,
            bos_token_id: raw.bos_token_id,
            eos_token_ids: raw.eos_token_id.map(OneOrMany::into_vec).unwrap_or_default(),
        };
        config.check_sizes(origin)?;
        Ok(config)
    }

    /// How many query heads share one key/value head.
    pub fn group_size(&self) -> usize {
        self.n_heads / self.n_kv_heads
    }

    fn check_sizes(&self, origin: &str) -> Result<()> {
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
            if size == 0 || size > u32::MAX as usize {
                return Err(unsupported(origin, field, size, "a size from 1 to 2^32 - 1"));
            }
        }
        if !self.head_dim.is_multiple_of(2) {
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

/// The tokens that begin and end a sequence, when `generation_config.json` gives them: they
/// override those of `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct GenerationConfig {
    eos_token_id: Option<OneOrMany>,
}

impl GenerationConfig {
    pub(crate) fn from_json(json: &[u8], origin: &str) -> Result<Self> {
        parse(json, origin)
    }

    pub(crate) fn apply(self, config: &mut ModelConfig) {
        if let Some(eos) = self.eos_token_id {
            config.eos_token_ids = eos.into_vec();
        }
    }
}

/// `config.json` as it is written. Fields that are not named here do not change the answer.
#[derive(Debug, Deserialize)]
struct RawConfig {
    model_type: String,
    vocab_size: usize,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    intermediate_size: usize,
    max_position_embeddings: usize,
    rms_norm_eps: f64,
    #[serde(default = "silu")]
    hidden_act: String,
    #[serde(default)]
    tie_word_embeddings: bool,
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    /// Where transformers 5 keeps RoPE; older files have the two fields below.
    rope_parameters: Option<RawRope>,
    rope_theta: Option<f64>,
    rope_scaling: Option<RawRope>,
    quantization_config: Option<serde_json::Value>,
    bos_token_id: Option<u32>,
    eos_token_id: Option<OneOrMany>,
}

#[derive(Debug, Deserialize)]
struct RawRope {
    #[serde(alias = "type")]
    rope_type: Option<String>,
    rope_theta: Option<f64>,
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

impl RawConfig {
    fn rope_theta(&self) -> f64 {
        let nested = self.rope_parameters.as_ref().and_then(|rope| rope.rope_theta);
        nested.or(self.rope_theta).unwrap_or(10_000.0)
    }

    fn check_supported(&self, origin: &str) -> Result<()> {
        if self.model_type != "llama" {
            return Err(unsupported(origin, "model_type", &self.model_type, "`llama`"));
        }
        if self.hidden_act != "silu" {
            return Err(unsupported(origin, "hidden_act", &self.hidden_act, "`silu`"));
        }
        for rope in [&self.rope_parameters, &self.rope_scaling].into_iter().flatten() {
            match rope.rope_type.as_deref() {
                None | Some("default") => {}
                Some(other) => return Err(unsupported(origin, "rope_type", other, "`default`")),
            }
        }
        for (field, on) in [
            ("attention_bias", self.attention_bias),
            ("mlp_bias", self.mlp_bias),
            ("quantization_config", self.quantization_config.is_some()),
        ] {
            if on {
                return Err(unsupported(origin, field, "set", "a model without it"));
            }
        }
        Ok(())
    }
}

fn silu() -> String {
    "silu".to_owned()
}

fn parse<T: serde::de::DeserializeOwned>(json: &[u8], origin: &str) -> Result<T> {
    serde_json::from_slice(json).map_err(|source| Error::Json { origin: origin.to_owned(), source })
}

fn unsupported(
    origin: &str,
    field: &'static str,
    value: impl ToString,
    supported: &'static str,
) -> Error {
    Error::Unsupported {
        origin: origin.to_owned(),
        field,
        value: value.to_string(),
        supported,
    }
}
