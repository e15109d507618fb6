//! What the metadata says of RoPE, and of the context that it is scaled to.

use super::config::{Architecture, Keys, ROPE_FACTORS, SHORT_FACTORS, YARN_LOG_MULTIPLIER};
use super::file::GgufFile;
use super::tensor::{Order, StoredTensor};
use super::tensor_type::TensorType;
use crate::error::{Error, LoadError, Result};
use crate::model::config::{RopeConfig, RopeScaling};

const ORIGINAL_CONTEXT: &str = "rope.scaling.original_context_length";
const SCALING_TYPE: &str = "rope.scaling.type";
const SCALING_FACTOR: &str = "rope.scaling.factor";
/// The older name of [`SCALING_FACTOR`].
const SCALE_LINEAR: &str = "rope.scale_linear";

impl Keys<'_> {
    pub(super) fn rope(&self, rotated: usize, file: &GgufFile<'_>) -> Result<RopeConfig> {
        let sharper = self.positive("rope.scaling.attn_factor", Some(1.0))?;
        let theta = self.positive("rope.freq_base", Some(10_000.0))?;
        let plain = RopeConfig { attention_factor: sharper, ..RopeConfig::new(theta) };
        let (kind, factor) = self.scaling()?;
        let factors = [ROPE_FACTORS, SHORT_FACTORS].into_iter().find(|name| file.holds(name));
        if let Some(tensor) = factors {
            let is_long = tensor == SHORT_FACTORS && kind == "longrope";
            if kind != "none" && !(is_long && factor.is_none_or(|factor| factor == 1.0)) {
                let none = format!("`none` beside a tensor {tensor}");
                return Err(self.wrong(SCALING_TYPE, none));
            }
            let scaling = RopeScaling::Factors(rope_factors(tensor, rotated, file)?);
            return Ok(RopeConfig { scaling, ..plain });
        }
        let factor = factor.ok_or_else(|| self.wrong(SCALING_FACTOR, "a number above 0"));
        Ok(match kind {
            "none" => plain,
            "linear" => RopeConfig { scaling: RopeScaling::Linear { factor: factor? }, ..plain },
            "yarn" => {
                let (factor, mixed) = (factor?, "rope.scaling.yarn_ext_factor");
                if self.positive(mixed, Some(1.0))? != 1.0 {
                    return Err(self.wrong(mixed, "1"));
                }
                let scaling = RopeScaling::Yarn {
                    factor,
                    beta_fast: self.positive("rope.scaling.yarn_beta_fast", Some(32.0))?,
                    beta_slow: self.positive("rope.scaling.yarn_beta_slow", Some(1.0))?,
                    original_context: self.original_context()?,
                    truncate: true,
                };
                // `mscale` is 1 in these files; in those of DeepSeek it is `mscale_all_dim`.
                let all = self.mscale_all()?;
                let is_same = self.prefix == Architecture::DeepSeek2.prefix() && all != 0.0;
                let mscale = |scale: f64| 1.0 + 0.1 * scale * libm::log(factor.max(1.0));
                let usual = mscale(if is_same { all } else { 1.0 }) / mscale(all);
                let sharpest = self.positive("rope.scaling.yarn_attn_factor", Some(usual))?;
                RopeConfig { scaling, attention_factor: sharper * sharpest, ..plain }
            }
            _ => return Err(self.wrong(SCALING_TYPE, "`none`, `linear` or `yarn`")),
        })
    }

    /// `mscale_all_dim` of YaRN. Files of DeepSeek have a tenth of it.
    fn mscale_all(&self) -> Result<f64> {
        let number = self.metadata.number(&self.key(YARN_LOG_MULTIPLIER))?.unwrap_or(0.0);
        Ok(match self.prefix == Architecture::DeepSeek2.prefix() {
            true => 10.0 * number,
            false => number,
        })
    }

    /// What queries and keys of DeepSeek are multiplied by, each, where YaRN sharpens all of a head.
    pub(super) fn sharpness(&self) -> Result<f64> {
        let factor = match self.scaling()? {
            ("yarn", factor) => factor.unwrap_or(1.0).max(1.0),
            _ => 1.0,
        };
        Ok(1.0 + 0.1 * self.mscale_all()? * libm::log(factor))
    }

    /// How RoPE is scaled, and by what factor. As in llama.cpp, a file that gives a factor and no type
    /// means `linear`, and a factor of 0 is none.
    fn scaling(&self) -> Result<(&str, Option<f64>)> {
        let key = match self.metadata.get(&self.key(SCALING_FACTOR)) {
            Some(_) => SCALING_FACTOR,
            None => SCALE_LINEAR,
        };
        let factor = match self.metadata.number(&self.key(key))? {
            None | Some(0.0) => None,
            Some(_) => Some(self.positive(key, None)?),
        };
        match self.metadata.text(&self.key(SCALING_TYPE))?.unwrap_or("linear") {
            "linear" if factor.is_none_or(|factor| factor == 1.0) => Ok(("none", None)),
            kind => Ok((kind, factor)),
        }
    }

    pub(super) fn original_context(&self) -> Result<f64> {
        let context = self.size("context_length")? as f64;
        self.positive(ORIGINAL_CONTEXT, Some(context))
    }

    /// The longest text, as for [`config.json`](ModelConfig::from_json): `linear` and `yarn` lengthen
    /// the original context, but for Gemma 3, whose files say how long it is then. With two sets of
    /// factors, one for short texts and one for long ones, it is that to which the first belongs.
    pub(super) fn context(
        &self,
        architecture: Architecture,
        context: usize,
        file: &GgufFile<'_>,
    ) -> Result<usize> {
        if file.holds(SHORT_FACTORS) {
            return Ok(self.positive(ORIGINAL_CONTEXT, None)?.min(context as f64) as usize);
        }
        match self.scaling()? {
            ("linear" | "yarn", Some(factor)) if architecture != Architecture::Gemma3 => {
                let longer = self.original_context()? * factor;
                Ok(context.max(longer.min(f64::from(i32::MAX)) as usize))
            }
            _ => Ok(context),
        }
    }
}

/// The factors of RoPE's frequencies, `[rotated / 2]`, from this tensor.
fn rope_factors(tensor: &str, rotated: usize, file: &GgufFile<'_>) -> Result<Vec<f32>> {
    let (origin, tensor) = (file.origin().to_owned(), tensor.to_owned());
    let Some((name, info)) = file.tensors.get_key_value(&tensor) else {
        return Err(LoadError::TensorMissing { origin, tensor }.into());
    };
    let expected = vec![rotated / 2];
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
    let stored = StoredTensor { file, name, info, order: Order::Same };
    let mut buffer = Vec::new();
    let bytes = stored.bytes(0..stored.length(), &mut buffer)?;
    let (numbers, _) = bytes.as_chunks();
    let factors: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    match factors.iter().find(|factor| !factor.is_finite() || **factor <= 0.0) {
        None => Ok(factors),
        Some(other) => Err(wrong(format!("holds {other}, but factors of RoPE are above 0"))),
    }
}
