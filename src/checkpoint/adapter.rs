//! Adapters as PEFT stores them: a folder with `adapter_config.json` and `adapter_model.safetensors`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use burn::tensor::DType;
use bytes::BytesMut;
use serde::Deserialize;
use serde_json::Value;

use super::convert;
use super::folder::read;
use super::open_file::OpenFile;
use super::safetensors::SafetensorsFile;
use super::weight_file::WeightFile;
use crate::adapter::{Adapter, Change, Sites};
use crate::error::{Error, LoadError, Result};
use crate::kernels::Panels;

const CONFIG: &str = "adapter_config.json";
const MATRICES: &str = "adapter_model.safetensors";

/// What PEFT puts before the names of a model's modules.
const PREFIX: &str = "base_model.model.";

/// The fields that decide what an adapter computes.
#[derive(Debug, Deserialize)]
struct File {
    peft_type: Option<String>,
    r: usize,
    lora_alpha: f64,
    #[serde(default)]
    use_rslora: bool,
    #[serde(default)]
    alpha_pattern: BTreeMap<String, f64>,
    #[serde(default)]
    rank_pattern: BTreeMap<String, usize>,
    #[serde(flatten)]
    others: BTreeMap<String, Value>,
}

/// Fields that change what is computed, and are supported only as they are left out.
const UNSUPPORTED: [&str; 12] = [
    "use_dora",
    "lora_bias",
    "modules_to_save",
    "layer_replication",
    "target_parameters",
    "trainable_token_indices",
    "use_qalora",
    "alora_invocation_tokens",
    "use_bdlora",
    "arrow_config",
    "kasa_config",
    "monteclora_config",
];

/// Ways to begin a training that also change the weights of the model.
const CHANGED_BASES: [&str; 5] = ["pissa", "olora", "corda", "loftq", "lora_ga"];

/// The two matrices of a module, with what they are multiplied by.
pub(crate) struct LowRank {
    /// `A`, `[rank, in]`
    pub(crate) down: Vec<f32>,
    /// `B`, `[out, rank]`
    pub(crate) up: Vec<f32>,
    pub(crate) rank: usize,
    pub(crate) scale: f32,
}

/// The folder of an adapter, whose matrices are read on demand.
pub(crate) struct AdapterFolder {
    config: File,
    origin: String,
    file: OpenFile,
}

impl AdapterFolder {
    /// Opens a folder.
    ///
    /// # Errors
    /// Files that are missing or damaged; an adapter of a kind that is not supported.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let missing =
            |missing| Error::Load(LoadError::NotAnAdapter { folder: folder.to_owned(), missing });
        let json = read(folder, CONFIG)?.ok_or_else(|| missing(CONFIG))?;
        let origin = format!("{:?}", folder.join(CONFIG));
        let config: File = serde_json::from_slice(&json)
            .map_err(|source| LoadError::Json { origin: origin.clone(), source })?;
        config.check(&origin)?;
        let file = OpenFile::open(&folder.join(MATRICES))?.ok_or_else(|| missing(MATRICES))?;
        Ok(Self { config, origin, file })
    }

    /// Calls `visit` with each module that the adapter changes, and its matrices. `shape` finds the shape of a
    /// module, `[out, in]`, if the model has it.
    ///
    /// # Errors
    /// Those of `visit`; a module that the model does not have, or that has another shape.
    pub(crate) fn for_each(
        &self,
        shape: impl Fn(&str) -> Option<[usize; 2]>,
        mut visit: impl FnMut(&str, LowRank) -> Result<()>,
    ) -> Result<()> {
        let OpenFile { length, read_at, origin } = &self.file;
        let file = WeightFile::Safetensors(SafetensorsFile::open(*length, read_at, origin)?);
        let wrong = |problem| Error::Load(LoadError::Adapter { origin: origin.clone(), problem });
        let mut modules = BTreeSet::new();
        for name in file.names() {
            let module = [".lora_A.weight", ".lora_B.weight"]
                .iter()
                .find_map(|end| name.strip_suffix(end))
                .ok_or_else(|| {
                    wrong(format!("has a tensor `{name}`, which is no matrix of LoRA"))
                })?;
            modules.insert(module);
        }
        if modules.is_empty() {
            return Err(wrong("changes nothing".to_owned()));
        }
        for module in modules {
            let inner = module.strip_prefix(PREFIX).unwrap_or(module);
            let [n_out, n_in] = shape(inner).ok_or_else(|| {
                wrong(format!("changes `{inner}`, which is no linear layer of this model that adapters can change"))
            })?;
            let rank = self.config.rank(inner, &self.origin)?;
            let read = |end: &str, shape: [usize; 2]| {
                let tensor = file.tensor(&format!("{module}.{end}.weight"), &shape)?;
                let mut bytes = BytesMut::new();
                convert::append(&tensor, DType::F32, &mut bytes)?;
                Ok::<Vec<f32>, Error>(bytemuck::pod_collect_to_vec(&bytes))
            };
            let matrices = LowRank {
                down: read("lora_A", [rank, n_in])?,
                up: read("lora_B", [n_out, rank])?,
                rank,
                scale: self.config.scale(inner, rank, &self.origin)?,
            };
            visit(inner, matrices)?;
        }
        Ok(())
    }

    /// Whether the checkpoint that it changes stores its matrices as `[in, out]`.
    pub(crate) fn is_transposed(&self) -> bool {
        let field = self.config.others.get("fan_in_fan_out");
        field.and_then(Value::as_bool).unwrap_or(false)
    }

    /// Reads the adapter for the model that has these sites.
    ///
    /// # Errors
    /// As [`for_each`](Self::for_each).
    pub(crate) fn read(&self, sites: &Arc<Sites>) -> Result<Adapter> {
        let mut changes: Vec<Option<Change>> = (0..sites.len()).map(|_| None).collect();
        let shape = |module: &str| {
            let (_, site) = sites.of_module(module).next()?;
            Some(site.whole())
        };
        self.for_each(shape, |module, LowRank { down, up, rank, scale }| {
            for (index, site) in sites.of_module(module) {
                let [n_out, n_in] = site.shape;
                let rows = if site.is_turned { n_in } else { n_out };
                let up = &up[site.first * rank..(site.first + rows) * rank];
                let [down, up] = match site.is_turned {
                    false => [Cow::Borrowed(&down[..]), Cow::Borrowed(up)],
                    // What is turned of a product is the product of what is turned.
                    true => [transposed(up, rank), transposed(&down, n_out)].map(Cow::Owned),
                };
                changes[index] = Some(Change {
                    down: Panels::from_numbers(&down, [rank, n_in])?,
                    up: Panels::from_numbers(&up, [n_out, rank])?,
                    scale,
                });
            }
            Ok(())
        })?;
        Ok(Adapter::new(sites, changes))
    }
}

impl File {
    fn check(&self, origin: &str) -> Result<()> {
        let refuse = |field, value: String, supported| {
            let origin = origin.to_owned();
            Err(LoadError::Unsupported { origin, field, value, supported }.into())
        };
        let kind = self.peft_type.as_deref().unwrap_or("LORA");
        if kind != "LORA" {
            return refuse("peft_type", kind.to_owned(), "LORA");
        }
        for field in UNSUPPORTED {
            let value = self.others.get(field).filter(|value| !is_nothing(value));
            if let Some(value) = value {
                return refuse(field, value.to_string(), "an adapter without it");
            }
        }
        match self.others.get("bias").and_then(Value::as_str) {
            None | Some("none") => {}
            Some(bias) => return refuse("bias", bias.to_owned(), "`none`"),
        }
        let begun = self.others.get("init_lora_weights").and_then(Value::as_str);
        let begun = begun.filter(|begun| {
            CHANGED_BASES.iter().any(|changed| begun.to_lowercase().starts_with(changed))
        });
        match begun {
            Some(begun) => refuse(
                "init_lora_weights",
                begun.to_owned(),
                "one that leaves the model's own weights as they are (PEFT converts such an adapter: `path_initial_model_for_weight_conversion`)",
            ),
            None => Ok(()),
        }
    }

    fn rank(&self, module: &str, origin: &str) -> Result<usize> {
        let rank = of_pattern(&self.rank_pattern, "rank_pattern", module, origin)?;
        match rank.unwrap_or(self.r) {
            0 => Err(LoadError::Unsupported {
                origin: origin.to_owned(),
                field: "r",
                value: "0".to_owned(),
                supported: "a rank of 1 or greater",
            }
            .into()),
            rank => Ok(rank),
        }
    }

    /// What the product of the two matrices is multiplied by.
    fn scale(&self, module: &str, rank: usize, origin: &str) -> Result<f32> {
        let alpha = of_pattern(&self.alpha_pattern, "alpha_pattern", module, origin)?;
        let alpha = alpha.unwrap_or(self.lora_alpha);
        let divisor = if self.use_rslora {
            (rank as f64).sqrt()
        } else {
            rank as f64
        };
        Ok((alpha / divisor) as f32)
    }
}

/// A matrix with so many columns, turned.
fn transposed(matrix: &[f32], columns: usize) -> Vec<f32> {
    let column = |i: usize| matrix.iter().skip(i).step_by(columns);
    (0..columns).flat_map(column).copied().collect()
}

/// Whether a field says the same as none.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// The value of the key that a module's name ends with.
///
/// # Errors
/// A key that is a regular expression, and not a name; several keys for one module.
fn of_pattern<T: Copy>(
    pattern: &BTreeMap<String, T>,
    field: &'static str,
    module: &str,
    origin: &str,
) -> Result<Option<T>> {
    for key in pattern.keys() {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if !key.bytes().all(is_name) {
            let (origin, value) = (origin.to_owned(), format!("`{key}`"));
            let supported = "the name of a module, or its end";
            return Err(LoadError::Unsupported { origin, field, value, supported }.into());
        }
    }
    let ends_with = |key: &str| {
        module.strip_suffix(key).is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    let mut keys = pattern.iter().filter(|(key, _)| ends_with(key));
    let first = keys.next();
    if let (Some((one, _)), Some((other, _))) = (first, keys.next()) {
        let (origin, value) = (origin.to_owned(), format!("`{one}` and `{other}` for `{module}`"));
        let supported = "one key for each module";
        return Err(LoadError::Unsupported { origin, field, value, supported }.into());
    }
    Ok(first.map(|(_, value)| *value))
}
