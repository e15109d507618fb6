//! The tensors that one quantized matrix is stored as.

use burn::tensor::{bf16, f16};

use crate::checkpoint::safetensors::RawTensor;
use crate::checkpoint::weights::files::Files;
use crate::error::{Error, LoadError, Result};

/// The tensors that one matrix is stored as, by what follows the name of its layer.
pub(in crate::checkpoint::weights) struct Parts<'a, 'b> {
    pub(in crate::checkpoint::weights) files: &'a Files<'b>,
    /// The name of the layer, with a dot behind it.
    pub(in crate::checkpoint::weights) layer: &'a str,
}

/// One of them.
pub(super) struct Part {
    origin: String,
    name: String,
    tensor: RawTensor,
}

impl Parts<'_, '_> {
    /// Whether there is a tensor of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.files.name_in_file(&format!("{}{name}", self.layer)).is_some()
    }

    /// What the file calls the matrix itself, behind the name of its layer.
    pub(super) fn kind(&self) -> &str {
        let in_file = self.files.name_in_file(&format!("{}weight", self.layer));
        in_file.and_then(|name| name.rsplit('.').next()).unwrap_or_default()
    }

    /// The tensor of this name, which is marked as used.
    ///
    /// # Errors
    /// A tensor that is missing or damaged.
    pub(super) fn get(&self, name: &str) -> Result<Part> {
        let name = format!("{}{name}", self.layer);
        let (origin, name, tensor) = self.files.raw(&name)?;
        Ok(Part { origin, name, tensor })
    }

    /// As [`get`](Self::get), or none.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub(super) fn find(&self, name: &str) -> Result<Option<Part>> {
        self.has(name).then(|| self.get(name)).transpose()
    }

    /// Marks tensors as used that change no weight.
    pub(super) fn skip(&self, names: &[&str]) {
        for name in names {
            self.files.skip(&format!("{}{name}", self.layer));
        }
    }
}

impl Part {
    pub(super) fn dtype(&self) -> &str {
        &self.tensor.dtype
    }

    pub(super) fn shape(&self) -> &[usize] {
        &self.tensor.shape
    }

    pub(super) fn len(&self) -> usize {
        self.tensor.shape.iter().product()
    }

    /// The bytes, whatever their type.
    pub(super) fn text(&self) -> &[u8] {
        &self.tensor.bytes
    }

    /// # Errors
    /// Another shape, where sizes of 1 count for nothing.
    pub(super) fn expect(&self, shape: &[usize]) -> Result<()> {
        let without_ones = |shape: &[usize]| -> Vec<usize> {
            shape.iter().copied().filter(|size| *size != 1).collect()
        };
        if without_ones(&self.tensor.shape) == without_ones(shape) {
            return Ok(());
        }
        Err(LoadError::TensorShape {
            origin: self.origin.clone(),
            tensor: self.name.clone(),
            found: self.tensor.shape.clone(),
            expected: shape.to_vec(),
        }
        .into())
    }

    /// Groups of columns of one size, as many as these scales have for each output.
    ///
    /// # Errors
    /// Another shape than `[outputs, groups]` or, where they are `turned`, `[groups, outputs]`.
    pub(super) fn groups(&self, [n_out, n_in]: [usize; 2], turned: bool) -> Result<usize> {
        let groups = self.len() / n_out.max(1);
        self.expect(&if turned {
            [groups, n_out]
        } else {
            [n_out, groups]
        })?;
        if groups == 0 || !n_in.is_multiple_of(groups) {
            return Err(self.wrong(format!("has {groups} scales for each row of {n_in} weights")));
        }
        Ok(groups)
    }

    /// The error that this tensor `problem`.
    pub(super) fn wrong(&self, problem: impl Into<String>) -> Error {
        Error::Load(LoadError::QuantizedTensor {
            origin: self.origin.clone(),
            tensor: self.name.clone(),
            problem: problem.into(),
        })
    }

    fn wrong_type(&self, expected: &str) -> Error {
        self.wrong(format!("is stored as {}, and should be {expected}", self.dtype()))
    }

    /// Each byte, of a tensor of this type.
    ///
    /// # Errors
    /// Another type.
    pub(super) fn bytes(self, dtypes: &[&str]) -> Result<Vec<u8>> {
        if dtypes.contains(&self.dtype()) {
            Ok(self.tensor.bytes)
        } else {
            Err(self.wrong_type(&dtypes.join(" or ")))
        }
    }

    /// Words of 32 bits.
    ///
    /// # Errors
    /// Another type.
    pub(super) fn words(&self) -> Result<Vec<u32>> {
        if !["I32", "U32"].contains(&self.dtype()) {
            return Err(self.wrong_type("I32"));
        }
        let (words, _) = self.tensor.bytes.as_chunks();
        Ok(words.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    /// Numbers of any type that scales have.
    ///
    /// # Errors
    /// Another type.
    pub(super) fn numbers(&self) -> Result<Vec<f32>> {
        let bytes = &self.tensor.bytes;
        let halves = || bytes.as_chunks().0.iter();
        Ok(match self.dtype() {
            "F32" => bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            "F16" => halves().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect(),
            "BF16" => halves().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect(),
            "F8_E4M3" => {
                let values = super::fp8::values();
                bytes.iter().map(|code| values[usize::from(*code)]).collect()
            }
            // A power of two, whose exponent has 127 added to it.
            "F8_E8M0" | "U8" => bytes.iter().map(|exponent| power_of_two(*exponent)).collect(),
            _ => return Err(self.wrong_type("F32, F16, BF16 or F8_E4M3")),
        })
    }

    /// The number, of a tensor that has one.
    ///
    /// # Errors
    /// As [`expect`](Self::expect) and [`numbers`](Self::numbers).
    pub(super) fn one(&self) -> Result<f32> {
        self.expect(&[])?;
        Ok(self.numbers()?[0])
    }

    /// Bytes with a sign.
    ///
    /// # Errors
    /// Another type.
    pub(super) fn small_integers(self) -> Result<Vec<f32>> {
        let bytes = self.bytes(&["I8"])?;
        Ok(bytes.into_iter().map(|byte| f32::from(byte as i8)).collect())
    }
}

/// 2 to the power of `exponent - 127`.
pub(in crate::checkpoint::weights) fn power_of_two(exponent: u8) -> f32 {
    match exponent {
        0 => f32::MIN_POSITIVE / 2.0,
        255 => f32::NAN,
        _ => f32::from_bits(u32::from(exponent) << 23),
    }
}
