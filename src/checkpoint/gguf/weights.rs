//! The tensors of a file, under the names of a Hugging Face checkpoint.

use std::collections::BTreeMap;

use super::config::{Architecture, LONG_FACTORS, ROPE_FACTORS, SHORT_FACTORS, interleaves_heads};
use super::file::GgufFile;
use super::names::Names;
use super::tensor::StoredTensor;
use super::tensor_type::TensorType;
use crate::error::{LoadError, Result};
use crate::kernels::GroupFormat;
use crate::model::ModelConfig;

/// The tensors of a file, under the names of a Hugging Face checkpoint.
pub(crate) struct GgufWeights<'a> {
    file: &'a GgufFile<'a>,
    names: &'static Names,
    /// The file's name of each tensor, by the name in a checkpoint. Tensors that no checkpoint has
    /// keep the file's name.
    tensors: BTreeMap<String, &'a str>,
    interleaved_head: Option<usize>,
}

impl<'a> GgufWeights<'a> {
    /// The tensors of a model with this `config`.
    ///
    /// # Errors
    /// Metadata of the wrong type.
    pub(crate) fn new(file: &'a GgufFile<'a>, config: &ModelConfig) -> Result<Self> {
        let names = Names::of(Architecture::of(file)?);
        // The factors belong to the config, which has read them.
        let factors = [ROPE_FACTORS, SHORT_FACTORS, LONG_FACTORS];
        let tensors = file.tensors.keys().filter(|name| !factors.contains(&name.as_str()));
        let renamed = |name: &'a String| {
            (names.in_checkpoint(name).unwrap_or_else(|| name.clone()), name.as_str())
        };
        let interleaved_head = interleaves_heads(file)?.then_some(config.head_dim);
        Ok(Self {
            file,
            names,
            tensors: tensors.map(renamed).collect(),
            interleaved_head,
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
            Some((name.as_str(), info.numbers, info.kind.group_format()))
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
        let is_turned = [".q_proj.", ".k_proj."].iter().any(|part| name.contains(part));
        let interleaved_head = self.interleaved_head.filter(|_| is_turned);
        Ok(StoredTensor { file: self.file, name: in_file, info, interleaved_head })
    }
}
