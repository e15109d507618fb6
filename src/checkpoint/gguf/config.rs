//! Hyperparameters from the metadata.

use std::fmt::Display;

use super::file::GgufFile;
use super::metadata::Metadata;
use super::tokenizer::SpecialIds;
use crate::error::{Error, LoadError, Result};
use crate::model::activation::Activation;
use crate::model::config::{Family, LlamaConfig, ModelConfig, QkNorm, RopeConfig};

/// The tensor of RoPE's factors: each frequency is divided by its own.
pub(super) const ROPE_FACTORS: &str = "rope_freqs.weight";

/// As [`ROPE_FACTORS`], for texts within the original context (`longrope`), and beyond it.
pub(super) const SHORT_FACTORS: &str = "rope_factors_short.weight";
pub(super) const LONG_FACTORS: &str = "rope_factors_long.weight";

pub(super) const YARN_LOG_MULTIPLIER: &str = "rope.scaling.yarn_log_multiplier";

pub(super) const ARCHITECTURE: &str = "general.architecture";

/// The architectures that this crate implements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Architecture {
    /// Files of Mistral and Mixtral models say `llama` too.
    Llama,
    Qwen2,
    Qwen3,
    Qwen3Moe,
    Gemma3,
    Gemma4,
    GptOss,
    Lfm2,
    Lfm2Moe,
    Qwen35,
    Qwen35Moe,
    /// DeepSeek-V2 and -V3, and GLM-4.7-Flash.
    DeepSeek2,
    SmolLm3,
    Phi3,
    /// OLMo 3, and OLMo 2.
    Olmo2,
    Granite,
    /// Ministral 3.
    Mistral3,
    Gpt2,
}

impl Architecture {
    /// By the names that files have for them, with which their keys begin too.
    const NAMES: [(&str, Self); 18] = [
        ("llama", Self::Llama),
        ("qwen2", Self::Qwen2),
        ("qwen3", Self::Qwen3),
        ("qwen3moe", Self::Qwen3Moe),
        ("gemma3", Self::Gemma3),
        ("gemma4", Self::Gemma4),
        ("gpt-oss", Self::GptOss),
        ("lfm2", Self::Lfm2),
        ("lfm2moe", Self::Lfm2Moe),
        ("qwen35", Self::Qwen35),
        ("qwen35moe", Self::Qwen35Moe),
        ("deepseek2", Self::DeepSeek2),
        ("smollm3", Self::SmolLm3),
        ("phi3", Self::Phi3),
        ("olmo2", Self::Olmo2),
        ("granite", Self::Granite),
        ("mistral3", Self::Mistral3),
        ("gpt2", Self::Gpt2),
    ];

    const KNOWN: &str = "`llama`, `mistral3`, `qwen2`, `qwen3`, `qwen3moe`, `qwen35`, `qwen35moe`, \
                         `gemma3`, `gemma4`, `gpt-oss`, `lfm2`, `lfm2moe`, `deepseek2`, `smollm3`, \
                         `phi3`, `olmo2`, `granite` or `gpt2`";

    pub(super) fn of(file: &GgufFile<'_>) -> Result<Self> {
        let metadata = &file.metadata;
        match metadata.text(ARCHITECTURE)? {
            Some(name) => Self::named(name, metadata.origin()),
            None => Err(metadata.wrong(ARCHITECTURE, Self::KNOWN)),
        }
    }

    /// The architecture that a file called `origin` names.
    fn named(name: &str, origin: &str) -> Result<Self> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, architecture)| *architecture).ok_or_else(|| {
            LoadError::Unsupported {
                origin: origin.to_owned(),
                field: ARCHITECTURE,
                value: format!("{name:?}"),
                supported: Self::KNOWN,
            }
            .into()
        })
    }

    /// What keys begin with.
    pub(super) fn prefix(self) -> &'static str {
        Self::NAMES.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }
}

/// Checks that models of this architecture are implemented. `origin` names the file.
///
/// # Errors
/// Another architecture than those.
#[cfg(feature = "hub")]
pub(crate) fn check_architecture(name: &str, origin: &str) -> Result<()> {
    Architecture::named(name, origin).map(|_| ())
}

impl ModelConfig {
    /// Reads the metadata of a GGUF file.
    ///
    /// # Errors
    /// A key that is missing, or whose value is not supported: an unknown architecture, RoPE
    /// scaling, experts or a window in an architecture that has none.
    pub fn from_gguf(file: &GgufFile<'_>) -> Result<Self> {
        let architecture = Architecture::of(file)?;
        let keys = Keys { metadata: &file.metadata, prefix: architecture.prefix() };
        keys.check_supported(architecture)?;
        let mut config = match architecture {
            Architecture::Gpt2 => keys.gpt2(file)?,
            _ => keys.llama(architecture, file)?,
        };
        config.check_sizes(file.origin())?;
        config.drop_wide_windows();
        Ok(config)
    }
}

impl GgufFile<'_> {
    /// How the hidden states of a text become one vector, by its number in llama.cpp.
    ///
    /// # Errors
    /// An unknown architecture; a value that is no number.
    pub(crate) fn pooling_type(&self) -> Result<Option<usize>> {
        let architecture = Architecture::of(self)?;
        let keys = Keys { metadata: &self.metadata, prefix: architecture.prefix() };
        self.metadata.size(&keys.key("pooling_type"))
    }

    /// What is wrong with the metadata and does no harm, in a sentence each.
    ///
    /// # Errors
    /// A special token whose id is no number.
    pub(crate) fn warnings(&self) -> Result<Vec<String>> {
        let outside = SpecialIds::read(&self.metadata)?.outside.into_iter();
        let ignored =
            |(key, id)| format!("`{key}` is {id}, outside the vocabulary, and is ignored");
        Ok(outside.map(ignored).collect())
    }
}

/// The keys of an architecture.
pub(super) struct Keys<'a> {
    pub(super) metadata: &'a Metadata,
    pub(super) prefix: &'static str,
}

impl Keys<'_> {
    fn llama(&self, architecture: Architecture, file: &GgufFile<'_>) -> Result<ModelConfig> {
        let n_heads = self.size("attention.head_count")?;
        let d_model = self.size("embedding_length")?;
        // In files of latent attention the other is what is kept of a position.
        let whole = match self.optional_size("attention.key_length_mla")? {
            Some(head_dim) if architecture == Architecture::DeepSeek2 => Some(head_dim),
            _ => self.optional_size("attention.key_length")?,
        };
        let head_dim = whole.unwrap_or(d_model / n_heads);
        let rotated = self.check_heads(architecture, head_dim)?;
        let has = |tensor: &str| file.holds(&format!("blk.0.{tensor}"));
        let rope = RopeConfig { rotated, ..self.rope(rotated.unwrap_or(head_dim), file)? };
        let has_norms = matches!(architecture, Architecture::Qwen3 | Architecture::Qwen3Moe)
            || has("attn_q_norm.weight");
        // Some biases are fixed by the architecture; for others, the file decides.
        let llama = LlamaConfig {
            qkv_bias: architecture == Architecture::Qwen2 || has("attn_q.bias"),
            o_bias: has("attn_output.bias"),
            mlp_bias: has("ffn_gate.bias"),
            qk_norm: has_norms.then_some(match architecture {
                Architecture::Olmo2 => QkNorm::Projection,
                _ => QkNorm::Head,
            }),
            ..LlamaConfig::plain(rope)
        };
        let llama = match architecture {
            Architecture::Gemma3 => self.gemma3(llama, d_model, head_dim)?,
            Architecture::Gemma4 => self.gemma4(llama, d_model, file)?,
            Architecture::GptOss => self.gpt_oss(llama)?,
            Architecture::Lfm2 => self.lfm2(llama, file)?,
            Architecture::Lfm2Moe => self.lfm2_experts(llama, file)?,
            Architecture::Qwen35 => self.qwen35(llama)?,
            Architecture::Qwen35Moe => self.qwen35_experts(llama)?,
            Architecture::DeepSeek2 => self.deepseek2(llama, head_dim, file)?,
            Architecture::SmolLm3 => self.smollm3(llama)?,
            Architecture::Phi3 => self.phi3(llama)?,
            Architecture::Olmo2 => self.olmo2(llama)?,
            Architecture::Granite => self.granite(llama)?,
            Architecture::Mistral3 => self.mistral3(llama)?,
            Architecture::Llama => self.experts(self.windows(llama)?)?,
            _ => self.experts(llama)?,
        };
        let head_dim = match architecture {
            Architecture::Gemma4 => self.size("attention.key_length_swa")?,
            _ => head_dim,
        };
        let n_kv_heads = match architecture {
            Architecture::DeepSeek2 => n_heads,
            _ => self.n_kv_heads()?.unwrap_or(n_heads),
        };
        let eps = "attention.layer_norm_rms_epsilon";
        let config = self.common(Family::Llama(llama), d_model, n_heads, eps, file)?;
        Ok(ModelConfig {
            n_kv_heads,
            head_dim,
            activation: match architecture {
                Architecture::Gemma3 | Architecture::Gemma4 => Activation::GeluTanh,
                Architecture::GptOss => Activation::ClampedSilu,
                _ => Activation::Silu,
            },
            context_length: self.context(architecture, config.context_length, file)?,
            ..config
        })
    }

    /// How many heads of keys and values layers have, where they have some: those of the first.
    fn n_kv_heads(&self) -> Result<Option<usize>> {
        let heads = self.metadata.sizes(&self.key(KV_HEADS), self.size("block_count")?)?;
        Ok(heads.and_then(|heads| heads.into_iter().find(|heads| *heads > 0)))
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
            n_layers: self.n_layers()?,
            n_heads,
            n_kv_heads: n_heads,
            head_dim: d_model / n_heads,
            d_ff: self.d_ff()?,
            context_length: self.size("context_length")?,
            norm_eps: self.positive(eps, None)?,
            activation: Activation::GeluTanh,
            tied_head: !file.holds("output.weight"),
            bos_token_id: ids.bos,
            eos_token_ids: ids.ends(self.metadata)?,
        })
    }

    /// The inner size of feed-forward networks: that of the first layer, where they have others.
    fn d_ff(&self) -> Result<usize> {
        let sizes = self.metadata.sizes(&self.key(D_FF), self.size("block_count")?)?;
        match sizes.and_then(|sizes| sizes.first().copied()) {
            Some(size) => Ok(size),
            // Where no layer has another network than experts.
            None => self.optional_size(EXPERT_D_FF)?.ok_or_else(|| self.wrong(D_FF, SIZE)),
        }
    }

    /// How many layers the network has. Layers that predict several tokens at once are blocks behind these.
    pub(super) fn n_layers(&self) -> Result<usize> {
        let (blocks, key) = (self.size("block_count")?, "nextn_predict_layers");
        let behind = self.metadata.size(&self.key(key))?.unwrap_or(0);
        let layers = blocks.checked_sub(behind).filter(|layers| *layers > 0);
        layers.ok_or_else(|| self.wrong(key, "fewer than block_count"))
    }

    /// Rejects what this crate does not implement.
    fn check_supported(&self, architecture: Architecture) -> Result<()> {
        use Architecture::{
            DeepSeek2, Gemma3, Gemma4, GptOss, Lfm2Moe, Llama, Mistral3, Olmo2, Phi3, Qwen3Moe,
            Qwen35Moe,
        };
        let has_experts = matches!(
            architecture,
            Llama | Qwen3Moe | Qwen35Moe | Gemma4 | GptOss | DeepSeek2 | Lfm2Moe
        );
        let has_windows = matches!(architecture, Llama | Gemma3 | Gemma4 | GptOss | Phi3 | Olmo2);
        for (key, is_supported, expected) in [
            ("expert_count", has_experts, "0, a model without experts"),
            ("attention.sliding_window", has_windows, "0, attention over the whole sequence"),
            (YARN_LOG_MULTIPLIER, matches!(architecture, Mistral3 | DeepSeek2), "0"),
        ] {
            let number = self.metadata.number(&self.key(key))?;
            if !is_supported && number.is_some_and(|number| number != 0.0) {
                return Err(self.wrong(key, expected));
            }
        }
        let causal = "attention.causal";
        if self.metadata.flag(&self.key(causal))? == Some(false) {
            return Err(self.wrong(causal, "true (a text is read forwards)"));
        }
        Ok(())
    }

    /// Values take the whole of a head, and so do rotations in most architectures. Returns how much of
    /// it is rotated, where that is less.
    fn check_heads(&self, architecture: Architecture, head_dim: usize) -> Result<Option<usize>> {
        use Architecture::{DeepSeek2, Phi3, Qwen35, Qwen35Moe};
        let rotated = self.optional_size(ROTATED)?.filter(|size| *size != head_dim);
        if let Some(rotated) = rotated {
            let is_partial = matches!(architecture, Phi3 | Qwen35 | Qwen35Moe | DeepSeek2);
            if !is_partial || rotated > head_dim || !rotated.is_multiple_of(2) {
                let whole = format!("{head_dim}, the size of a head");
                return Err(self.wrong(ROTATED, whole));
            }
        }
        let key = "attention.value_length";
        if architecture != DeepSeek2
            && self.optional_size(key)?.is_some_and(|size| size != head_dim)
        {
            return Err(self.wrong(key, format!("{head_dim}, the size of a head")));
        }
        Ok(rotated)
    }

    pub(super) fn key(&self, name: &str) -> String {
        format!("{}.{name}", self.prefix)
    }

    pub(super) fn wrong(&self, key: &str, expected: impl Display) -> Error {
        self.metadata.wrong(&self.key(key), expected)
    }

    /// A size above 0.
    pub(super) fn size(&self, key: &str) -> Result<usize> {
        self.optional_size(key)?.ok_or_else(|| self.wrong(key, SIZE))
    }

    pub(super) fn optional_size(&self, key: &str) -> Result<Option<usize>> {
        match self.metadata.size(&self.key(key))? {
            Some(size) if size == 0 || size > i32::MAX as usize => Err(self.wrong(key, SIZE)),
            size => Ok(size),
        }
    }

    /// A number above 0, where there is one.
    pub(super) fn optional_positive(&self, key: &str) -> Result<Option<f64>> {
        match self.metadata.number(&self.key(key))? {
            Some(_) => self.positive(key, None).map(Some),
            None => Ok(None),
        }
    }

    /// A number above 0, because it is a divisor.
    pub(super) fn positive(&self, key: &str, default: Option<f64>) -> Result<f64> {
        match self.metadata.number(&self.key(key))?.or(default) {
            Some(number) if number.is_finite() && number > 0.0 => Ok(number),
            _ => Err(self.wrong(key, "a number above 0")),
        }
    }
}

pub(super) const KV_HEADS: &str = "attention.head_count_kv";
pub(super) const D_FF: &str = "feed_forward_length";
pub(super) const EXPERT_D_FF: &str = "expert_feed_forward_length";
/// How many layers come before those with experts.
pub(super) const DENSE_LAYERS: &str = "leading_dense_block_count";
/// How much of a head RoPE turns.
pub(super) const ROTATED: &str = "rope.dimension_count";

const SIZE: &str = "a size from 1 to 2^31 - 1";
