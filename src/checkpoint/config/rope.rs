//! The fields of `config.json` about RoPE, in all spellings.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::file::{given, positive};
use super::unsupported;
use crate::error::{Error, LoadError, Result};
use crate::model::config::{QueryGrowth, RopeConfig, RopeScaling};

/// What a file says of the RoPE of its layers, or of some of them, as it is written there.
pub(super) type RopeFields = Map<String, Value>;

/// The same, read.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct RopeFile {
    rope_type: Option<String>,
    /// The older name of `rope_type`. Some files have both.
    #[serde(rename = "type")]
    old_type: Option<String>,
    pub(super) rope_theta: Option<f64>,
    pub(super) partial_rotary_factor: Option<f64>,
    pub(super) factor: Option<f64>,
    low_freq_factor: Option<f64>,
    high_freq_factor: Option<f64>,
    original_max_position_embeddings: Option<f64>,
    attention_factor: Option<f64>,
    beta_fast: Option<f64>,
    beta_slow: Option<f64>,
    mscale: Option<f64>,
    mscale_all_dim: Option<f64>,
    #[serde(default, deserialize_with = "given")]
    truncate: Option<Option<bool>>,
    short_factor: Option<Vec<f32>>,
    long_factor: Option<Vec<f32>>,
    llama_4_scaling_beta: Option<f64>,
}

/// What the scalings depend on, besides their own fields.
#[derive(Debug, Clone, Copy)]
pub(super) struct RopeShape {
    pub(super) theta: f64,
    /// How many numbers of a head are rotated, where that is not all of it.
    pub(super) rotated: Option<usize>,
    pub(super) head_dim: usize,
    /// `max_position_embeddings`
    pub(super) context: usize,
    /// The context length before scaling, where it is given outside of these fields.
    pub(super) original: Option<f64>,
}

impl RopeFile {
    pub(super) fn read(fields: RopeFields, origin: &str) -> Result<Self> {
        serde_json::from_value(Value::Object(fields))
            .map_err(|source| Error::Load(LoadError::Json { origin: origin.to_owned(), source }))
    }

    pub(super) fn config(&self, shape: RopeShape, origin: &str) -> Result<RopeConfig> {
        let theta = positive(Some(shape.theta), "rope_theta", origin)?;
        let plain = RopeConfig { rotated: shape.rotated, ..RopeConfig::new(theta) };
        let scaled = |scaling| Ok(RopeConfig { scaling, ..plain.clone() });
        match self.rope_type() {
            // `dynamic` changes the frequencies of longer texts than the model takes here.
            "default" | "dynamic" => Ok(plain),
            "linear" => {
                scaled(RopeScaling::Linear { factor: positive(self.factor, "factor", origin)? })
            }
            "llama3" => scaled(self.llama3(shape, origin)?),
            "yarn" => self.yarn(shape, plain, origin),
            "longrope" | "su" => self.longrope(shape, plain, origin),
            other => {
                let known = "`default`, `linear`, `dynamic`, `llama3`, `yarn` or `longrope`";
                Err(unsupported(origin, "rope_type", other, known))
            }
        }
    }

    pub(super) fn rope_type(&self) -> &str {
        self.rope_type.as_ref().or(self.old_type.as_ref()).map_or("default", String::as_str)
    }

    /// The longest text, where it is not what `max_position_embeddings` says.
    ///
    /// `linear` and `yarn` lengthen the original context by their factor, as in vLLM: many files say
    /// there how long it was before. The frequencies of `longrope` change for all positions of a text
    /// that grows beyond the original context, also for those whose keys are in the cache: what a
    /// token's logits are would depend on how long its text becomes.
    pub(super) fn context(&self, shape: RopeShape) -> usize {
        let original = self.original(shape);
        match self.rope_type() {
            "longrope" | "su" => shape.context.min(original as usize),
            "linear" | "yarn" => {
                let longer = original * self.factor.unwrap_or(1.0);
                shape.context.max(longer.min(f64::from(i32::MAX)) as usize)
            }
            _ => shape.context,
        }
    }

    /// The context before scaling. Outside of these fields it has precedence, as in transformers.
    fn original(&self, shape: RopeShape) -> f64 {
        let nested = self.original_max_position_embeddings;
        shape.original.or(nested).unwrap_or(shape.context as f64)
    }

    fn positive_original(&self, shape: RopeShape, origin: &str) -> Result<f64> {
        positive(Some(self.original(shape)), "original_max_position_embeddings", origin)
    }

    /// How queries grow, in a family where they do.
    pub(super) fn query_growth(&self, shape: RopeShape, origin: &str) -> Result<QueryGrowth> {
        Ok(QueryGrowth {
            beta: positive(self.llama_4_scaling_beta, "llama_4_scaling_beta", origin)?,
            original_context: self.positive_original(shape, origin)?,
        })
    }

    /// As [`LlamaFile::sharpness`](super::llama::LlamaFile::sharpness).
    pub(super) fn sharpness(&self, origin: &str) -> Result<f64> {
        match self.mscale_all_dim.filter(|all| *all != 0.0 && self.rope_type() != "default") {
            Some(all) => {
                let factor = positive(self.factor, "factor", origin)?;
                Ok(1.0 + 0.1 * all * libm::log(factor.max(1.0)))
            }
            None => Ok(1.0),
        }
    }

    fn llama3(&self, shape: RopeShape, origin: &str) -> Result<RopeScaling> {
        let low = positive(self.low_freq_factor, "low_freq_factor", origin)?;
        let high = positive(self.high_freq_factor, "high_freq_factor", origin)?;
        if high <= low {
            let above = "a number above low_freq_factor";
            return Err(unsupported(origin, "high_freq_factor", high, above));
        }
        Ok(RopeScaling::Llama3 {
            factor: positive(self.factor, "factor", origin)?,
            low_freq_factor: low,
            high_freq_factor: high,
            original_context: self.positive_original(shape, origin)?,
        })
    }

    fn yarn(&self, shape: RopeShape, plain: RopeConfig, origin: &str) -> Result<RopeConfig> {
        let original = self.positive_original(shape, origin)?;
        let longer = shape.context as f64 / original;
        let factor = positive(Some(self.factor.unwrap_or(longer)), "factor", origin)?;
        let beta_fast = positive(Some(self.beta_fast.unwrap_or(32.0)), "beta_fast", origin)?;
        let beta_slow = positive(Some(self.beta_slow.unwrap_or(1.0)), "beta_slow", origin)?;
        let sharper = |scale: f64| 1.0 + 0.1 * scale * libm::log(factor.max(1.0));
        let attention_factor = match (self.attention_factor, self.mscale, self.mscale_all_dim) {
            (Some(factor), _, _) => factor,
            (None, Some(scale), Some(all)) if scale != 0.0 && all != 0.0 => {
                sharper(scale) / sharper(all)
            }
            _ => sharper(1.0),
        };
        Ok(RopeConfig {
            scaling: RopeScaling::Yarn {
                factor,
                beta_fast,
                beta_slow,
                original_context: original,
                // `null` is false, and a file without it means true.
                truncate: self.truncate.is_none_or(Option::unwrap_or_default),
            },
            attention_factor: positive(Some(attention_factor), "attention_factor", origin)?,
            ..plain
        })
    }

    fn longrope(&self, shape: RopeShape, plain: RopeConfig, origin: &str) -> Result<RopeConfig> {
        let original = self.positive_original(shape, origin)?;
        let stretch = self.factor.unwrap_or(shape.context as f64 / original);
        let sharper = || match stretch > 1.0 {
            true => (1.0 + libm::log(stretch) / libm::log(original)).sqrt(),
            false => 1.0,
        };
        let attention_factor = self.attention_factor.unwrap_or_else(sharper);
        let pairs = shape.rotated.unwrap_or(shape.head_dim) / 2;
        let factors = self.short_factor.clone().unwrap_or_default();
        let is_positive = |factor: &f32| factor.is_finite() && *factor > 0.0;
        let expected = "a factor above 0 for each pair of numbers that is rotated";
        if factors.len() != pairs || !factors.iter().all(is_positive) {
            return Err(unsupported(origin, "short_factor", factors, expected));
        }
        if self.long_factor.is_none() {
            return Err(unsupported(origin, "long_factor", None::<f64>, expected));
        }
        Ok(RopeConfig {
            scaling: RopeScaling::Factors(factors),
            attention_factor: positive(Some(attention_factor), "attention_factor", origin)?,
            ..plain
        })
    }
}
