//! Hyperparameters from the metadata.

use std::fmt::Display;

use super::file::GgufFile;
use super::metadata::Metadata;
use super::tensor::StoredTensor;
use super::tensor_type::TensorType;
use super::tokenizer::SpecialIds;
use crate::error::{Error, LoadError, Result};
use crate::model::activation::Activation;
use crate::model::config::{Family, LlamaConfig, ModelConfig, RopeConfig, RopeScaling};

/// The tensor of RoPE's factors: each frequency is divided by its own.
pub(super) const ROPE_FACTORS: &str = "rope_freqs.weight";

const ARCHITECTURE: &str = "general.architecture";

/// The architectures that this crate implements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Architecture {
    /// Files of Mistral models say `llama` too.
    Llama,
    Mistral,
    Qwen2,
    Qwen3,
    Gpt2,
}

impl Architecture {
    fn of(file: &GgufFile<'_>) -> Result<Self> {
        const KNOWN: &str = "`llama`, `mistral`, `qwen2`, `qwen3` or `gpt2`";
        let metadata = &file.metadata;
        Ok(match metadata.text(ARCHITECTURE)? {
            Some("llama") => Self::Llama,
            Some("mistral") => Self::Mistral,
            Some("qwen2") => Self::Qwen2,
            Some("qwen3") => Self::Qwen3,
            Some("gpt2") => Self::Gpt2,
            Some(other) => {
                return Err(LoadError::Unsupported {
                    origin: metadata.origin().to_owned(),
                    field: ARCHITECTURE,
                    value: format!("{other:?}"),
                    supported: KNOWN,
                }
                .into());
            }
            None => return Err(metadata.wrong(ARCHITECTURE, KNOWN)),
        })
    }

    /// What keys begin with.
    fn prefix(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Mistral => "mistral",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
            Self::Gpt2 => "gpt2",
        }
    }
}

/// Whether the file has the rows of queries and keys in the order of interleaved RoPE.
pub(super) fn interleaves_heads(file: &GgufFile<'_>) -> Result<bool> {
    Ok(matches!(Architecture::of(file)?, Architecture::Llama | Architecture::Mistral))
}

impl ModelConfig {
    /// Reads the metadata of a GGUF file.
    ///
    /// # Errors
    /// A key that is missing, or whose value is not supported: an unknown architecture, RoPE
    /// scaling, experts, a sliding window.
    pub fn from_gguf(file: &GgufFile<'_>) -> Result<Self> {
        let architecture = Architecture::of(file)?;
        let keys = Keys { metadata: &file.metadata, prefix: architecture.prefix() };
        keys.check_supported()?;
        let config = match architecture {
            Architecture::Gpt2 => keys.gpt2(file)?,
            _ => keys.llama(architecture, file)?,
        };
        config.check_sizes(file.origin())?;
        Ok(config)
    }
}

/// The keys of an architecture.
struct Keys<'a> {
    metadata: &'a Metadata,
    prefix: &'static str,
}

impl Keys<'_> {
    fn llama(&self, architecture: Architecture, file: &GgufFile<'_>) -> Result<ModelConfig> {
        let n_heads = self.size("attention.head_count")?;
        let d_model = self.size("embedding_length")?;
        let head_dim = match self.optional_size("attention.key_length")? {
            Some(head_dim) => head_dim,
            None => d_model / n_heads,
        };
        self.check_heads(head_dim)?;
        let has = |tensor: &str| file.holds(&format!("blk.0.{tensor}"));
        // Some biases are fixed by the architecture; for others, the file decides.
        let qkv_bias = architecture == Architecture::Qwen2 || has("attn_q.bias");
        let family = Family::Llama(LlamaConfig {
            rope: self.rope(head_dim, file)?,
            qkv_bias,
            o_bias: has("attn_output.bias"),
            mlp_bias: has("ffn_gate.bias"),
            qk_norm: architecture == Architecture::Qwen3 || has("attn_q_norm.weight"),
        });
        let n_kv_heads = self.optional_size("attention.head_count_kv")?.unwrap_or(n_heads);
        let eps = "attention.layer_norm_rms_epsilon";
        Ok(ModelConfig {
            n_kv_heads,
            head_dim,
            activation: Activation::Silu,
            ..self.common(family, d_model, n_heads, eps, file)?
        })
    }

    fn gpt2(&self, file: &GgufFile<'_>) -> Result<ModelConfig> {
        let n_heads = self.size("attention.head_count")?;
        let d_model = self.size("embedding_length")?;
        if !d_model.is_multiple_of(n_heads) {
            return Err(self.wrong("attention.head_count", "a divisor of embedding_length"));
        }
        let n_kv_heads = self.optional_size("attention.head_count_kv")?;
        if n_kv_heads.is_some_and(|n_kv_heads| n_kv_heads != n_heads) {
            let same = "the same as attention.head_count";
            return Err(self.wrong("attention.head_count_kv", same));
        }
        self.common(Family::Gpt2, d_model, n_heads, "attention.layer_norm_epsilon", file)
    }

    /// What both families have. Heads and activation are those of GPT-2.
    fn common(
        &self,
        family: Family,
        d_model: usize,
        n_heads: usize,
        eps: &str,
        file: &GgufFile<'_>,
    ) -> Result<ModelConfig> {
        let ids = SpecialIds::read(self.metadata)?;
        Ok(ModelConfig {
            family,
            // The tokenizer may have fewer tokens than the matrix has rows.
            vocab_size: file.shape("token_embd.weight")?.first().copied().unwrap_or(0),
            d_model,
            n_layers: self.size("block_count")?,
            n_heads,
            n_kv_heads: n_heads,
            head_dim: d_model / n_heads,
            d_ff: self.size("feed_forward_length")?,
            context_length: self.size("context_length")?,
            norm_eps: self.positive(eps, None)?,
            activation: Activation::GeluTanh,
            tied_head: !file.holds("output.weight"),
            bos_token_id: ids.bos,
            eos_token_ids: ids.ends(),
        })
    }

    /// Rejects what this crate does not implement.
    fn check_supported(&self) -> Result<()> {
        for (key, expected) in [
            ("expert_count", "0, a model without experts"),
            ("attention.sliding_window", "0, attention over the whole sequence"),
        ] {
            if self.metadata.size(&self.key(key))?.is_some_and(|value| value != 0) {
                return Err(self.wrong(key, expected));
            }
        }
        Ok(())
    }

    /// Values and rotations take the whole of a head.
    fn check_heads(&self, head_dim: usize) -> Result<()> {
        for key in ["attention.value_length", "rope.dimension_count"] {
            if self.optional_size(key)?.is_some_and(|size| size != head_dim) {
                return Err(self.wrong(key, format!("{head_dim}, the size of a head")));
            }
        }
        Ok(())
    }

    fn rope(&self, head_dim: usize, file: &GgufFile<'_>) -> Result<RopeConfig> {
        let theta = self.positive("rope.freq_base", Some(10_000.0))?;
        let kind = self.metadata.text(&self.key("rope.scaling.type"))?;
        let scaling = match kind.unwrap_or("none") {
            "none" => RopeScaling::None,
            "linear" => RopeScaling::Linear { factor: self.positive("rope.scaling.factor", None)? },
            _ => return Err(self.wrong("rope.scaling.type", "`none` or `linear`")),
        };
        if !file.holds(ROPE_FACTORS) {
            return Ok(RopeConfig { theta, scaling });
        }
        if scaling != RopeScaling::None {
            let none = format!("`none` beside a tensor {ROPE_FACTORS}");
            return Err(self.wrong("rope.scaling.type", none));
        }
        let factors = rope_factors(head_dim, file)?;
        Ok(RopeConfig { theta, scaling: RopeScaling::Factors(factors) })
    }

    fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.prefix)
    }

    fn wrong(&self, key: &str, expected: impl Display) -> Error {
        self.metadata.wrong(&self.key(key), expected)
    }

    /// A size above 0.
    fn size(&self, key: &str) -> Result<usize> {
        self.optional_size(key)?.ok_or_else(|| self.wrong(key, SIZE))
    }

    fn optional_size(&self, key: &str) -> Result<Option<usize>> {
        match self.metadata.size(&self.key(key))? {
            Some(size) if size == 0 || size > i32::MAX as usize => Err(self.wrong(key, SIZE)),
            size => Ok(size),
        }
    }

    /// A number above 0, because it is a divisor.
    fn positive(&self, key: &str, default: Option<f64>) -> Result<f64> {
        match self.metadata.number(&self.key(key))?.or(default) {
            Some(number) if number.is_finite() && number > 0.0 => Ok(number),
            _ => Err(self.wrong(key, "a number above 0")),
        }
    }
}

const SIZE: &str = "a size from 1 to 2^31 - 1";

/// The factors of RoPE's frequencies, `[head_dim / 2]`.
fn rope_factors(head_dim: usize, file: &GgufFile<'_>) -> Result<Vec<f32>> {
    let (origin, tensor) = (file.origin().to_owned(), ROPE_FACTORS.to_owned());
    let Some((name, info)) = file.tensors.get_key_value(ROPE_FACTORS) else {
        return Err(LoadError::TensorMissing { origin, tensor }.into());
    };
    let expected = vec![head_dim / 2];
    if info.shape != expected {
        let found = info.shape.clone();
        return Err(LoadError::TensorShape { origin, tensor, found, expected }.into());
    }
    let wrong = |problem: String| {
        Error::Load(LoadError::GgufTensor {
            origin: origin.clone(),
            tensor: tensor.clone(),
            problem,
        })
    };
    if info.kind != TensorType::F32 {
        return Err(wrong("holds factors of RoPE, which must be stored as F32".to_owned()));
    }
    let stored = StoredTensor { file, name, info, interleaved_head: None };
    let mut buffer = Vec::new();
    let bytes = stored.bytes(0..stored.length(), &mut buffer)?;
    let (numbers, _) = bytes.as_chunks();
    let factors: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    match factors.iter().find(|factor| !factor.is_finite() || **factor <= 0.0) {
        None => Ok(factors),
        Some(other) => Err(wrong(format!("holds {other}, but factors of RoPE are above 0"))),
    }
}
