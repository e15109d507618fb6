//! `quantization_config` in a `config.json`: how somebody else quantized the matrices of a checkpoint.
//!
//! Which matrices those are, the files tell: what `modules_to_not_convert` or `ignore` lists is stored as plain
//! numbers. How activations are to be rounded, and keys and values, is not followed: here they are as precise as
//! the flags say.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::config::{parse, unsupported};
use crate::error::Result;
use crate::kernels::GroupFormat;

/// How the matrices of a checkpoint were quantized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quantization {
    pub(super) method: Method,
    /// Whether keys and values are to be quantized, too.
    pub(super) has_cache_scheme: bool,
    /// The bits of a weight.
    bits: u8,
    /// The format of panels that holds the weights where scales are f16, and where they are others.
    formats: [Option<GroupFormat>; 2],
}

/// The layouts that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// FP8, with scales for blocks of so many rows and columns, or for outputs, or for the whole.
    Fp8 {
        block: Option<[usize; 2]>,
    },
    CompressedTensors,
    Awq,
    /// GPTQ, whose zero points are so much more than what is stored.
    Gptq {
        zero_offset: u8,
    },
    BitsAndBytes,
}

/// The fields of all layouts.
#[derive(Debug, Deserialize)]
struct Fields {
    quant_method: Option<String>,
    bits: Option<u8>,
    sym: Option<bool>,
    desc_act: Option<bool>,
    version: Option<String>,
    checkpoint_format: Option<String>,
    #[serde(default)]
    is_marlin_format: bool,
    weight_block_size: Option<[usize; 2]>,
    #[serde(default)]
    load_in_8bit: bool,
    format: Option<String>,
    quant_algo: Option<String>,
    packing_format: Option<String>,
    #[serde(default)]
    rotation_config: Value,
    #[serde(default)]
    kv_cache_scheme: Value,
    #[serde(default)]
    config_groups: BTreeMap<String, Value>,
    #[serde(default)]
    sparsity_config: Value,
    #[serde(default)]
    transform_config: Value,
}

/// The weights of a group of layers in compressed-tensors.
#[derive(Debug, Deserialize)]
struct GroupWeights {
    num_bits: u8,
    #[serde(rename = "type")]
    kind: String,
    symmetric: Option<bool>,
    actorder: Option<Value>,
}

const METHODS: &str = "`fp8`, `fbgemm_fp8`, `compressed-tensors`, `awq`, `gptq`, `auto-round`, `bitsandbytes`, `modelopt` or \
                       `mxfp4`, or a checkpoint of plain F32, F16 or BF16 weights, or a GGUF file,";

impl Quantization {
    /// What a `config.json` says, or the part of it that describes the model that reads text; none if it says
    /// nothing. `origin` names it in errors.
    ///
    /// # Errors
    /// A layout that is not read.
    pub(super) fn from_json(json: &[u8], origin: &str) -> Result<Option<Self>> {
        let config: Value = parse(json, origin)?;
        let said = |config: &Value| {
            let fields = ["quantization_config", "compression_config"];
            fields
                .iter()
                .find_map(|field| config.get(field).filter(|value| !value.is_null()).cloned())
        };
        match said(&config).or_else(|| said(&config["text_config"])) {
            Some(value) => Self::from_value(&value, origin),
            None => Ok(None),
        }
    }

    /// What a `quantization_config` says, or none for MXFP4, which is told by the names of its tensors.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json).
    pub(super) fn from_value(value: &Value, origin: &str) -> Result<Option<Self>> {
        let field = "quantization_config";
        let wrong = |_| unsupported(origin, field, value.clone(), METHODS);
        let fields = Fields::deserialize(value).map_err(wrong)?;
        let method = fields.quant_method.as_deref().unwrap_or_default();
        let both = |format| [Some(format); 2];
        let (method, bits, formats) = match method {
            "mxfp4" => return Ok(None),
            "fp8" | "fbgemm_fp8" => {
                if fields.weight_block_size.is_some_and(|block| block.contains(&0)) {
                    let sizes = "sizes of 1 at least";
                    let size = value["weight_block_size"].clone();
                    return Err(unsupported(
                        origin,
                        "quantization_config.weight_block_size",
                        size,
                        sizes,
                    ));
                }
                (Method::Fp8 { block: fields.weight_block_size }, 8, both(GroupFormat::Fp8))
            }
            "compressed-tensors" => {
                let (bits, formats) = fields.compressed(origin)?;
                (Method::CompressedTensors, bits, formats)
            }
            "modelopt" => match fields.quant_algo.as_deref() {
                Some("FP8") => (Method::CompressedTensors, 8, both(GroupFormat::Fp8)),
                Some("NVFP4") => (Method::CompressedTensors, 4, both(GroupFormat::Nvfp4)),
                other => {
                    let (field, read) = ("quantization_config.quant_algo", "`FP8` or `NVFP4`");
                    return Err(unsupported(origin, field, other, read));
                }
            },
            "awq" => {
                let version = fields.version.as_deref().unwrap_or("gemm");
                if !version.eq_ignore_ascii_case("gemm") {
                    let gemm = "`gemm`, the layout that most checkpoints have,";
                    return Err(unsupported(origin, "quantization_config.version", version, gemm));
                }
                fields.awq(origin)?
            }
            "gptq" => {
                let format = fields.checkpoint_format.as_deref().unwrap_or("gptq");
                if fields.is_marlin_format || !["gptq", "gptq_v2"].contains(&format) {
                    let layouts =
                        "`gptq` or `gptq_v2`, and no layout for one kernel (such as `marlin`),";
                    let format = if fields.is_marlin_format {
                        "marlin"
                    } else {
                        format
                    };
                    let field = "quantization_config.checkpoint_format";
                    return Err(unsupported(origin, field, format, layouts));
                }
                fields.check_bits(&[2, 3, 4, 8], "2, 3, 4 or 8 bits", origin)?;
                fields.gptq(u8::from(format == "gptq"))
            }
            "auto-round" | "intel/auto-round" => fields.auto_round(origin)?,
            "bitsandbytes" => match fields.load_in_8bit {
                true => (Method::BitsAndBytes, 8, both(GroupFormat::Int8Min)),
                false => (Method::BitsAndBytes, 4, [None; 2]),
            },
            _ => return Err(unsupported(origin, field, value.clone(), METHODS)),
        };
        let has_cache_scheme = !fields.kv_cache_scheme.is_null();
        Ok(Some(Self { method, has_cache_scheme, bits, formats }))
    }

    /// How many weights a tensor of bytes or words holds, and the format that they become, as far as that can
    /// be said before they are read; none if it is no matrix. `has_f16` tells of a layer whether its scales are.
    pub(super) fn foreseen(
        &self,
        name: &str,
        dtype: &str,
        bytes: usize,
        has_f16: impl Fn(&str) -> bool,
    ) -> Option<(usize, Option<GroupFormat>)> {
        let kinds = ["weight_packed", "qweight", "weight"];
        let layer = kinds.iter().find_map(|kind| name.strip_suffix(kind))?;
        let bits = match dtype {
            "F8_E4M3" | "I8" => 8,
            "U8" => 4,
            _ => usize::from(self.bits),
        };
        let [with_f16, otherwise] = self.formats;
        let format = if has_f16(layer) { with_f16 } else { otherwise };
        Some((bytes.saturating_mul(8) / bits, format))
    }
}

impl Fields {
    fn check_bits(&self, read: &[u8], supported: &'static str, origin: &str) -> Result<()> {
        match self.bits {
            Some(bits) if !read.contains(&bits) => {
                Err(unsupported(origin, "quantization_config.bits", bits, supported))
            }
            _ => Ok(()),
        }
    }

    fn awq(&self, origin: &str) -> Result<(Method, u8, [Option<GroupFormat>; 2])> {
        self.check_bits(&[4], "4 bits", origin)?;
        Ok((Method::Awq, 4, [Some(GroupFormat::Int4Min); 2]))
    }

    fn gptq(&self, zero_offset: u8) -> (Method, u8, [Option<GroupFormat>; 2]) {
        let bits = self.bits.unwrap_or(4);
        let formats = match bits {
            _ if self.desc_act == Some(true) => [None; 2],
            5.. => [Some(GroupFormat::Int8), Some(GroupFormat::Int8Min)],
            _ if self.sym == Some(false) => [Some(GroupFormat::Int4Min); 2],
            _ => [Some(GroupFormat::Int4), Some(GroupFormat::Int4Min)],
        };
        (Method::Gptq { zero_offset }, bits, formats)
    }

    /// AutoRound (Cheng and others, arXiv 2309.05516) packs as GPTQ does or as AWQ.
    fn auto_round(&self, origin: &str) -> Result<(Method, u8, [Option<GroupFormat>; 2])> {
        if !self.rotation_config.is_null() {
            let field = "quantization_config.rotation_config";
            let none = "a checkpoint whose activations are not rotated";
            return Err(unsupported(origin, field, self.rotation_config.clone(), none));
        }
        let layout = self.packing_format.as_deref().unwrap_or("auto_round:auto_gptq");
        let zero_offset = match layout {
            "auto_round:auto_awq" | "auto_round:awq" => return self.awq(origin),
            "auto_round:auto_gptq" | "auto_round:gptq" => 1,
            "auto_round" | "auto_round:gptqmodel" => 0,
            other => {
                let field = "quantization_config.packing_format";
                let layouts = "`auto_round`, `auto_round:auto_gptq`, `auto_round:gptqmodel` or `auto_round:auto_awq`";
                return Err(unsupported(origin, field, other, layouts));
            }
        };
        self.check_bits(&[2, 3, 4, 5, 6, 7, 8], "2 to 8 bits", origin)?;
        Ok(self.gptq(zero_offset))
    }

    /// The bits and the formats of the first group of layers in compressed-tensors, if all groups have a layout that
    /// is read.
    fn compressed(&self, origin: &str) -> Result<(u8, [Option<GroupFormat>; 2])> {
        const FORMATS: &str = "`pack-quantized`, `int-quantized`, `float-quantized`, `naive-quantized`, \
                               `nvfp4-pack-quantized`, `mxfp4-pack-quantized` or `mixed-precision` of these";
        let known = FORMATS.split('`').skip(1).step_by(2);
        let refuse = |field, value: &Value, supported| {
            Err(unsupported(origin, field, value.clone(), supported))
        };
        let is_known =
            |format: &str| format == "dense" || known.clone().any(|known| known == format);
        if let Some(format) = self.format.as_deref().filter(|format| !is_known(format)) {
            return refuse("quantization_config.format", &format.into(), FORMATS);
        }
        let sparsity = &self.sparsity_config["format"];
        if !sparsity.is_null() && sparsity != "dense" {
            let dense = "`dense`: a checkpoint that is not sparse";
            return refuse("quantization_config.sparsity_config.format", sparsity, dense);
        }
        let transforms = &self.transform_config["config_groups"];
        if transforms.as_object().is_some_and(|groups| !groups.is_empty()) {
            let none = "a checkpoint whose activations are not rotated";
            return refuse("quantization_config.transform_config", &self.transform_config, none);
        }
        let mut first = None;
        for group in self.config_groups.values() {
            let format = &group["format"];
            if let Some(format) = format.as_str().filter(|format| !is_known(format)) {
                return refuse("quantization_config.config_groups.format", &format.into(), FORMATS);
            }
            // A group may be of activations alone.
            let weights = &group["weights"];
            if weights.is_null() {
                continue;
            }
            let kinds = "integers of 2, 4 or 8 bits, or `float` of 4 or 8 bits";
            let field = "quantization_config.config_groups.weights";
            let Ok(read) = GroupWeights::deserialize(weights) else {
                return refuse(field, weights, kinds);
            };
            let formats = match (read.kind.as_str(), read.num_bits) {
                // Columns of a group are apart.
                ("int", _) if read.actorder == Some("group".into()) => [None; 2],
                ("float", 8) => [Some(GroupFormat::Fp8); 2],
                ("float", 4) => [Some(GroupFormat::Nvfp4); 2],
                ("int", 8) => [Some(GroupFormat::Int8), Some(GroupFormat::Int8Min)],
                ("int", 2 | 4) if read.symmetric == Some(false) => [Some(GroupFormat::Int4Min); 2],
                ("int", 2 | 4) => [Some(GroupFormat::Int4), Some(GroupFormat::Int4Min)],
                _ => return refuse(field, weights, kinds),
            };
            first = first.or(Some((read.num_bits, formats)));
        }
        Ok(first.unwrap_or((8, [None; 2])))
    }
}
