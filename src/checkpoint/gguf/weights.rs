//! The tensors of a file, under the names of a Hugging Face checkpoint.

use std::collections::BTreeMap;

use super::config::{Architecture, LONG_FACTORS, ROPE_FACTORS, SHORT_FACTORS};
use super::file::GgufFile;
use super::names::Names;
use super::tensor::{Order, StoredTensor, Turns};
use super::tensor_type::TensorType;
use crate::error::{LoadError, Result};
use crate::kernels::GroupFormat;
use crate::model::ModelConfig;
use crate::model::config::{DeltaRule, Family, Mixer};

/// The tensors of a file, under the names of a Hugging Face checkpoint.
pub(crate) struct GgufWeights<'a> {
    file: &'a GgufFile<'a>,
    names: &'static Names,
    /// The file's name of each tensor, by the name in a checkpoint. Tensors that no checkpoint has
    /// keep the file's name.
    tensors: BTreeMap<String, &'a str>,
    architecture: Architecture,
    head_dim: usize,
    /// The heads of the gated delta rule, where the file has those of a key apart.
    rule: Option<DeltaRule>,
}

impl<'a> GgufWeights<'a> {
    /// The tensors of a model with this `config`.
    ///
    /// # Errors
    /// Metadata of the wrong type.
    pub(crate) fn new(file: &'a GgufFile<'a>, config: &ModelConfig) -> Result<Self> {
        let architecture = Architecture::of(file)?;
        let names = Names::of(architecture);
        // The factors belong to the config, which has read them.
        let factors = [ROPE_FACTORS, SHORT_FACTORS, LONG_FACTORS];
        let tensors = file.tensors.keys().filter(|name| !factors.contains(&name.as_str()));
        let renamed = |name: &'a String| {
            (names.in_checkpoint(name).unwrap_or_else(|| name.clone()), name.as_str())
        };
        let rule = match &config.family {
            Family::Llama(llama) => llama.layers.iter().find_map(|layer| match layer.mixer {
                Mixer::DeltaRule(rule) => Some(rule),
                Mixer::Attention | Mixer::Convolution(_) => None,
            }),
            Family::Gpt2 => None,
        };
        Ok(Self {
            file,
            names,
            tensors: tensors.map(renamed).collect(),
            architecture,
            head_dim: config.head_dim,
            rule: rule.filter(|rule| rule.value_heads > rule.key_heads),
        })
    }

    /// The name of the file in errors.
    pub(crate) fn origin(&self) -> &str {
        self.file.origin()
    }

    /// The names of all tensors.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The name of each tensor, the number of its elements, and the format that keeps its blocks.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&str, usize, Option<GroupFormat>)> {
        self.tensors.iter().filter_map(|(name, in_file)| {
            let info = self.file.tensors.get(*in_file)?;
            let is_turned = ["k_b_proj", "v_b_proj"].iter().any(|part| name.contains(part));
            let format = info.kind.group_format().filter(|_| !is_turned);
            Some((name.as_str(), info.numbers, format))
        })
    }

    /// The file's name of a tensor of a checkpoint.
    pub(crate) fn name_in_file(&self, name: &str) -> String {
        self.names.in_file(name).unwrap_or_else(|| name.to_owned())
    }

    /// The tensor called `name`, which must have this `shape`.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape.
    pub(crate) fn tensor(&self, name: &str, shape: &[usize]) -> Result<StoredTensor<'_>> {
        let origin = || self.origin().to_owned();
        let found = self.tensors.get(name).and_then(|name| self.file.tensors.get_key_value(*name));
        let Some((in_file, info)) = found else {
            return Err(LoadError::TensorMissing {
                origin: origin(),
                tensor: self.name_in_file(name),
            }
            .into());
        };
        // The matrices of experts, `[experts, rows, columns]`, are one above the other.
        let is_stack = match (info.shape.as_slice(), shape) {
            ([experts, rows, columns], [all, width]) => {
                experts.checked_mul(*rows) == Some(*all) && columns == width
            }
            // And their biases behind each other.
            ([experts, rows], [all]) => experts.checked_mul(*rows) == Some(*all),
            _ => false,
        };
        // A convolution has no dimension of 1 there.
        let long = |shape: &[usize]| -> Vec<usize> {
            shape.iter().copied().filter(|size| *size != 1).collect()
        };
        if long(&info.shape) != long(shape) && !is_stack {
            let (found, expected) = (info.shape.clone(), shape.to_vec());
            let tensor = in_file.clone();
            return Err(LoadError::TensorShape { origin: origin(), tensor, found, expected }.into());
        }
        if shape.len() == 1 && matches!(info.kind, TensorType::Blocks(_)) {
            let problem = "is a vector in blocks, but vectors are stored number by number";
            return Err(LoadError::GgufTensor {
                origin: origin(),
                tensor: in_file.clone(),
                problem: problem.to_owned(),
            }
            .into());
        }
        Ok(StoredTensor {
            file: self.file,
            name: in_file,
            info,
            order: self.order(name),
        })
    }

    /// In which order the file has the tensor called `name`.
    fn order(&self, name: &str) -> Order {
        use Architecture::{Granite, Llama, Mistral3, SmolLm3};
        let is_one_of = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if matches!(self.architecture, Llama | SmolLm3 | Granite | Mistral3) {
            let is_turned = is_one_of(&[".q_proj.", ".k_proj."]);
            return match is_turned {
                true => Order::Pairs { head_dim: self.head_dim },
                false => Order::Same,
            };
        }
        let Some((rule, part)) = self.rule.zip(name.split_once(".linear_attn.")) else {
            return Order::Same;
        };
        let turns = |first: usize, size: usize| Turns {
            first,
            size,
            keys: rule.key_heads,
            of_key: rule.value_heads / rule.key_heads,
        };
        match part.1 {
            "in_proj_qkv.weight" | "conv1d.weight" => {
                Order::Rows(turns(2 * rule.key_heads * rule.key_dim, rule.value_dim))
            }
            "in_proj_z.weight" => Order::Rows(turns(0, rule.value_dim)),
            "in_proj_a.weight" | "in_proj_b.weight" | "dt_bias" | "rates" => {
                Order::Rows(turns(0, 1))
            }
            "out_proj.weight" => Order::Columns(turns(0, rule.value_dim)),
            _ => Order::Same,
        }
    }
}
