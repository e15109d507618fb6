//! Reads `config.json` and `generation_config.json` into a [`ModelConfig`].

mod file;
mod gpt2;
mod llama;

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, LoadError, Result};
use crate::model::config::{Family, LlamaConfig, ModelConfig, RopeConfig, RopeScaling};

impl ModelConfig {
    /// Reads a `config.json` in the format of Hugging Face. `origin` names it in errors.
    ///
    /// # Errors
    /// Malformed JSON, or a field whose value is not supported: an unknown `model_type`, activation
    /// or RoPE scaling, quantization, experts, a sliding window.
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

    pub(super) fn check_sizes(&self, origin: &str) -> Result<()> {
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

/// The fields of a `config.json` that decide how the rest is read, or whether.
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

/// The begin- and end-of-sequence tokens in `generation_config.json`, which override those of
/// `config.json`.
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
    serde_json::from_slice(json)
        .map_err(|source| Error::Load(LoadError::Json { origin: origin.to_owned(), source }))
}

/// The value is shown as JSON, which keeps it on one line.
fn unsupported(
    origin: &str,
    field: &'static str,
    value: impl Into<Value>,
    supported: &'static str,
) -> Error {
    Error::Load(LoadError::Unsupported {
        origin: origin.to_owned(),
        field,
        value: value.into().to_string(),
        supported,
    })
}
