//! Reads `config.json` and `generation_config.json` into a [`ModelConfig`].

mod deepseek;
mod experts;
mod file;
mod gemma3;
mod gemma4;
mod gpt2;
mod gpt_oss;
mod granite;
mod lfm2;
mod llama;
mod ministral3;
mod nested;
mod olmo3;
mod phi3;
mod qwen35;
mod rope;
mod smollm3;

use super::quantization::Quantization;
use file::given;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::error::{Error, LoadError, Result};
use crate::model::config::{Family, LlamaConfig, ModelConfig};

impl ModelConfig {
    /// Reads a `config.json` in the format of Hugging Face. `origin` names it in errors.
    ///
    /// # Errors
    /// Malformed JSON, or a field whose value is not supported: an unknown `model_type`, activation
    /// or RoPE scaling, quantization, experts or a window in a family that has none.
    ///
    #[doc = include_str!("config/fields.md")]
    pub fn from_json(json: &[u8], origin: &str) -> Result<Self> {
        let kind: Kind = parse(json, origin)?;
        kind.check_supported(origin)?;
        if let Some(text) = nested::text(&kind.model_type, json, origin)? {
            return Self::from_json(text.as_bytes(), origin);
        }
        let mut config = match kind.model_type.as_str() {
            "llama" | "mistral" | "qwen2" | "qwen3" => llama::read(&kind.model_type, json, origin)?,
            "ministral3" => ministral3::read(json, origin)?,
            "gemma3_text" => gemma3::read(json, origin)?,
            "gemma4_text" => gemma4::read(json, origin)?,
            "gemma4_unified_text" => gemma4::read_unified(json, origin)?,
            "olmo3" => olmo3::read(json, origin)?,
            "lfm2" => lfm2::read(json, origin)?,
            "lfm2_moe" => lfm2::read_experts(json, origin)?,
            "qwen3_next" => qwen35::read_next(json, origin)?,
            "qwen3_5_text" => qwen35::read(json, origin)?,
            "qwen3_5_moe_text" => qwen35::read_experts(json, origin)?,
            "granite" => granite::read(json, origin)?,
            "gpt_oss" => gpt_oss::read(json, origin)?,
            "deepseek_v2" | "deepseek_v3" | "glm4_moe_lite" => {
                deepseek::read(&kind.model_type, json, origin)?
            }
            "smollm3" => smollm3::read(json, origin)?,
            "phi3" => phi3::read(json, origin)?,
            "qwen3_moe" => experts::read_qwen3(json, origin)?,
            "mixtral" => experts::read_mixtral(json, origin)?,
            "gpt2" => gpt2::read(json, origin)?,
            other => {
                return Err(unsupported(origin, "model_type", other, known_instead_of(other)));
            }
        };
        config.check_sizes(origin)?;
        config.drop_wide_windows();
        kind.add_special_ids(&mut config);
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
        if let Family::Llama(llama) = &self.family
            && llama.layers.iter().any(|layer| layer.window == Some(0))
        {
            return Err(unsupported(origin, "sliding_window", 0, "at least 1 position"));
        }
        if matches!(self.family, Family::Llama(_)) && !self.head_dim.is_multiple_of(2) {
            let even = "an even size (RoPE turns pairs)";
            return Err(unsupported(origin, "head_dim", self.head_dim, even));
        }
        if !self.has_kv_layers() {
            let some = "attention in one layer at least";
            return Err(unsupported(origin, "layer_types", None::<usize>, some));
        }
        if !self.n_heads.is_multiple_of(self.n_kv_heads) {
            let divisor = "a divisor of num_attention_heads";
            return Err(unsupported(origin, "num_key_value_heads", self.n_kv_heads, divisor));
        }
        Ok(())
    }

    /// A window that holds the whole context is none.
    pub(super) fn drop_wide_windows(&mut self) {
        if let Family::Llama(llama) = &mut self.family {
            for layer in &mut llama.layers {
                layer.window = layer.window.filter(|window| *window < self.context_length);
            }
        }
    }
}

/// What is supported, instead of a model that is not: of families of today, with what they lack here.
fn known_instead_of(model_type: &str) -> &'static str {
    match model_type {
        "lfm2_vl" | "granitemoehybrid" | "nemotron_h" | "olmo_hybrid" | "kimi_linear" => {
            "a model whose layers keep keys and values, or a state as LFM2 or Qwen 3.5 have it (some layers of this \
             one keep another state, which is not implemented)"
        }
        _ => {
            "`llama`, `mistral`, `mixtral`, `ministral3`, `mistral3`, `qwen2`, `qwen3`, `qwen3_moe`, \
             `gemma3_text`, `smollm3`, `phi3`, `olmo3`, `granite`, `gpt_oss`, `deepseek_v2`, \
             `deepseek_v3`, `glm4_moe_lite`, `lfm2`, `lfm2_moe`, `qwen3_next`, `qwen3_5`, \
             `qwen3_5_moe`, `gemma4`, `gemma4_unified` or `gpt2`"
        }
    }
}

/// The fields of a `config.json` that decide how the rest is read, or whether.
#[derive(Debug, Deserialize)]
struct Kind {
    model_type: String,
    quantization_config: Option<Value>,
    is_causal: Option<bool>,
    per_layer_config: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    bos_token_id: Option<Option<Value>>,
    #[serde(default, deserialize_with = "given")]
    eos_token_id: Option<Option<Value>>,
}

impl Kind {
    fn check_supported(&self, origin: &str) -> Result<()> {
        if let Some(value) = &self.quantization_config {
            Quantization::from_value(value, origin)?;
        }
        if self.is_causal == Some(false) {
            let causal = "`true` (a text is read forwards)";
            return Err(unsupported(origin, "is_causal", false, causal));
        }
        let is_read = |_: &&Value| self.model_type.starts_with("gemma4_");
        if let Some(value) = self.per_layer_config.as_ref().filter(|value| !is_read(value)) {
            let alike = "a file without this field, whose sizes hold for all layers,";
            return Err(unsupported(origin, "per_layer_config", value.clone(), alike));
        }
        Ok(())
    }
}

impl Kind {
    /// The ids that transformers assumes where a file has no such field, if the vocabulary has them.
    fn add_special_ids(&self, config: &mut ModelConfig) {
        let (bos, eos) = match self.model_type.as_str() {
            "llama" | "mistral" | "mixtral" | "ministral3" | "granite" | "deepseek_v2" => {
                (Some(1), 2)
            }
            "deepseek_v3" | "glm4_moe_lite" => (Some(0), 1),
            "gemma3_text" | "gemma4_text" | "gemma4_unified_text" => (Some(2), 1),
            "smollm3" => (Some(128_000), 128_001),
            "lfm2" | "lfm2_moe" => (Some(1), 2),
            "phi3" => (Some(1), 32_000),
            "olmo3" => (None, 50_279),
            "gpt2" => (Some(50_256), 50_256),
            _ => return,
        };
        let exists = |id: &u32| (*id as usize) < config.vocab_size;
        if self.bos_token_id.is_none() {
            config.bos_token_id = bos.filter(exists);
        }
        if self.eos_token_id.is_none() {
            config.eos_token_ids = Some(eos).filter(exists).into_iter().collect();
        }
    }
}

/// The begin- and end-of-sequence tokens in `generation_config.json`, which override those of
/// `config.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct GenerationConfig {
    #[serde(default, deserialize_with = "token_id")]
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
#[serde(
    untagged,
    expecting = "eos_token_id must be a token id, or a list of token ids"
)]
enum OneOrMany {
    One(i64),
    Many(Vec<i64>),
}

impl OneOrMany {
    /// The ids. Files say -1 where there is none.
    fn into_vec(self) -> Vec<u32> {
        let ids = match self {
            OneOrMany::One(id) => vec![id],
            OneOrMany::Many(ids) => ids,
        };
        ids.into_iter().filter_map(|id| u32::try_from(id).ok()).collect()
    }
}

/// A token id, or none for `null` and for -1.
fn token_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let id: Option<i64> = Option::deserialize(deserializer)?;
    Ok(id.and_then(|id| u32::try_from(id).ok()))
}

pub(super) fn parse<T: serde::de::DeserializeOwned>(json: &[u8], origin: &str) -> Result<T> {
    serde_json::from_slice(json)
        .map_err(|source| Error::Load(LoadError::Json { origin: origin.to_owned(), source }))
}

/// The value is shown as JSON, which keeps it on one line.
pub(super) fn unsupported(
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
