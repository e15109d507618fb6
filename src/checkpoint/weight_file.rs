//! A file of weights in either format.

use std::ops::Range;

use burn::tensor::DType;

use super::convert;
use super::gguf::{self, GgufWeights};
use super::quantization::Quantization;
use super::safetensors::{self, RawTensor, SafetensorsFile};
use super::weights::QuantizedMatrix;
use crate::error::{LoadError, Result};
use crate::kernels::{Group, GroupFormat, Precision, StoredMatrix};
use crate::model::{Columns, HeadRows};

/// A file of weights, with tensors by their names in a Hugging Face checkpoint.
pub(super) enum WeightFile<'a> {
    Safetensors(SafetensorsFile<'a>),
    Gguf(GgufWeights<'a>),
}

impl WeightFile<'_> {
    /// The name of the file in errors.
    pub(super) fn origin(&self) -> &str {
        match self {
            Self::Safetensors(file) => file.origin(),
            Self::Gguf(file) => file.origin(),
        }
    }

    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Self::Safetensors(file) => file.names().collect(),
            Self::Gguf(file) => file.names().collect(),
        }
    }

    /// The sum of `bytes_of` over all tensors: their name, the number of their elements, and the
    /// format of panels that keeps their groups, if they are stored in groups.
    pub(super) fn memory(
        &self,
        quantization: Option<&Quantization>,
        bytes_of: impl Fn(&str, usize, Option<GroupFormat>) -> u128,
    ) -> u128 {
        match self {
            Self::Safetensors(file) => {
                let halves = |layer: &str| {
                    ["scales", "weight_scale"]
                        .iter()
                        .any(|kind| file.is_f16(&format!("{layer}{kind}")))
                };
                let bytes_of = |(name, dtype, bytes): (&str, &str, usize)| {
                    let of_numbers = match dtype {
                        "F32" => Some((bytes / 4, None)),
                        "F16" | "BF16" => Some((bytes / 2, None)),
                        "U8" if name.ends_with("_blocks") => {
                            Some((bytes.saturating_mul(2), Some(GroupFormat::Mxfp4)))
                        }
                        _ => quantization.and_then(|quantization| {
                            quantization.foreseen(name, dtype, bytes, halves)
                        }),
                    };
                    of_numbers.map_or(0, |(numbers, format)| bytes_of(name, numbers, format))
                };
                file.entries().map(bytes_of).sum()
            }
            Self::Gguf(file) => {
                file.numbers().map(|(name, numbers, format)| bytes_of(name, numbers, format)).sum()
            }
        }
    }

    /// Whether the matrices of GPT-2 are stored as `[in, out]`. In a GGUF file, all are `[out, in]`.
    pub(super) fn has_transposed(&self) -> bool {
        matches!(self, Self::Safetensors(_))
    }

    /// What the file calls a tensor.
    pub(super) fn name_in_file(&self, name: &str) -> String {
        match self {
            Self::Safetensors(_) => name.to_owned(),
            Self::Gguf(file) => file.name_in_file(name),
        }
    }

    /// The tensor called `name`, which must have this `shape`.
    ///
    /// # Errors
    /// A tensor that is missing, has another shape, or is stored in a type that is not read.
    pub(super) fn tensor(&self, name: &str, shape: &[usize]) -> Result<StoredTensor<'_>> {
        let stored = match self {
            Self::Safetensors(file) => Stored::Safetensors(file.tensor(name, shape)?),
            Self::Gguf(file) => Stored::Gguf(file.tensor(name, shape)?),
        };
        Ok(StoredTensor { stored, part: None })
    }

    /// The tensor called `name`, whatever its type and shape.
    ///
    /// # Errors
    /// A tensor that is missing or damaged, or is in a GGUF file, whose types are known.
    pub(super) fn raw(&self, name: &str) -> Result<RawTensor> {
        match self {
            Self::Safetensors(file) => file.raw(name),
            Self::Gguf(file) => Err(LoadError::TensorMissing {
                origin: file.origin().to_owned(),
                tensor: name.to_owned(),
            }
            .into()),
        }
    }

    /// The tensor of bytes called `name`, which must have this `shape`.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub(super) fn bytes_of(&self, name: &str, shape: &[usize]) -> Result<StoredTensor<'_>> {
        let stored = match self {
            Self::Safetensors(file) => Stored::Safetensors(file.bytes(name, shape)?),
            Self::Gguf(file) => Stored::Gguf(file.tensor(name, shape)?),
        };
        Ok(StoredTensor { stored, part: None })
    }
}

/// A tensor of a file, or some of its rows, as numbers in F32, F16 or BF16.
pub(super) struct StoredTensor<'a> {
    stored: Stored<'a>,
    part: Option<Rows>,
}

enum Stored<'a> {
    Safetensors(safetensors::StoredTensor<'a>),
    Gguf(gguf::StoredTensor<'a>),
    Quantized(QuantizedMatrix),
    /// In memory, in another order than in the file.
    Turned {
        dtype: DType,
        bytes: Vec<u8>,
    },
}

/// Some rows of a matrix.
struct Rows {
    first: usize,
    /// Where they begin, in bytes.
    start: usize,
    /// Their size, in bytes.
    length: usize,
}

impl StoredTensor<'_> {
    /// The `rows` from `first` on of a matrix with so many `columns`.
    pub(super) fn rows(mut self, first: usize, [rows, columns]: [usize; 2]) -> Self {
        let row = columns * self.dtype().size();
        self.part = Some(Rows { first, start: first * row, length: rows * row });
        self
    }

    /// These columns of one of several matrices, as the rows of a matrix `[n_out, n_in]`.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub(super) fn columns(&self, columns: Columns, [n_out, n_in]: [usize; 2]) -> Result<Self> {
        let Columns { index, first, step, .. } = columns;
        let (dtype, mut buffer) = (self.dtype(), Vec::new());
        let size = dtype.size();
        let row = n_out * step * size;
        let matrix = self.bytes(index * n_in * row..(index + 1) * n_in * row, &mut buffer)?;
        let numbers = matrix.chunks_exact(size).skip(first).step_by(step);
        let picked: Vec<u8> = numbers.flatten().copied().collect();
        let bytes = convert::transposed(&picked, dtype, n_out).to_vec();
        Ok(Self::turned(dtype, bytes))
    }

    /// These rows of the matrix, which has so many `columns`.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub(super) fn of_heads(&self, of: HeadRows, columns: usize) -> Result<Self> {
        let (dtype, mut buffer) = (self.dtype(), Vec::new());
        let row = columns * dtype.size();
        let matrix = self.bytes(0..self.length(), &mut buffer)?;
        let rows = |first: usize, count: usize| &matrix[first * row..(first + count) * row];
        let picked = of.parts.iter().flat_map(|&(first, count)| {
            (0..of.heads).flat_map(move |head| rows(head * of.rows + first, count))
        });
        Ok(Self::turned(dtype, picked.copied().collect()))
    }

    /// The same matrix, which has so many `columns`, as `[columns, rows]`.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub(super) fn transposed(&self, columns: usize) -> Result<Self> {
        let (dtype, mut buffer) = (self.dtype(), Vec::new());
        let matrix = self.bytes(0..self.length(), &mut buffer)?;
        Ok(Self::turned(dtype, convert::transposed(matrix, dtype, columns).to_vec()))
    }

    /// A matrix that somebody else quantized.
    pub(super) fn quantized(matrix: QuantizedMatrix) -> Self {
        Self { stored: Stored::Quantized(matrix), part: None }
    }

    /// Numbers that were read and put into another order.
    pub(super) fn turned(dtype: DType, bytes: Vec<u8>) -> Self {
        Self { stored: Stored::Turned { dtype, bytes }, part: None }
    }

    /// The type of each number.
    pub(super) fn dtype(&self) -> DType {
        match &self.stored {
            Stored::Turned { dtype, .. } => *dtype,
            Stored::Quantized(_) => DType::F32,
            Stored::Safetensors(tensor) => tensor.dtype,
            Stored::Gguf(tensor) => tensor.dtype(),
        }
    }

    /// The format of panels that holds what is stored in groups.
    pub(super) fn group_format(&self) -> Option<GroupFormat> {
        match &self.stored {
            Stored::Safetensors(_) | Stored::Turned { .. } => None,
            Stored::Gguf(tensor) => tensor.group_format(),
            Stored::Quantized(matrix) => matrix.group_format(),
        }
    }

    /// Reads the groups of a row of a tensor that has a [`group_format`](Self::group_format).
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub(super) fn read_groups(&self, row: usize, groups: &mut [Group]) -> Result<()> {
        let first = self.part.as_ref().map_or(0, |part| part.first);
        match &self.stored {
            Stored::Safetensors(_) | Stored::Turned { .. } => Ok(()),
            Stored::Gguf(tensor) => tensor.read_groups(first + row, groups),
            Stored::Quantized(matrix) => {
                matrix.read_groups(first + row, groups);
                Ok(())
            }
        }
    }
}

impl StoredMatrix for StoredTensor<'_> {
    fn precision(&self) -> Precision {
        Precision::of(self.dtype())
    }

    fn length(&self) -> usize {
        match (&self.part, &self.stored) {
            (Some(part), _) => part.length,
            (None, Stored::Safetensors(tensor)) => tensor.length,
            (None, Stored::Gguf(tensor)) => tensor.length(),
            (None, Stored::Turned { bytes, .. }) => bytes.len(),
            (None, Stored::Quantized(matrix)) => matrix.numbers() * size_of::<f32>(),
        }
    }

    /// The bytes in `range`, little-endian. It must begin and end between rows, or at multiples of
    /// 256 numbers: quantized numbers are read by blocks. What is not in memory goes through
    /// `buffer`.
    fn bytes<'b>(&'b self, range: Range<usize>, buffer: &'b mut Vec<u8>) -> Result<&'b [u8]> {
        let start = self.part.as_ref().map_or(0, |part| part.start);
        let range = start + range.start..start + range.end;
        match &self.stored {
            Stored::Safetensors(tensor) => tensor.bytes(range, buffer),
            Stored::Gguf(tensor) => tensor.bytes(range, buffer),
            Stored::Turned { bytes, .. } => Ok(&bytes[range]),
            Stored::Quantized(matrix) => {
                buffer.resize(range.len(), 0);
                matrix.read(range.start / size_of::<f32>(), buffer);
                Ok(buffer)
            }
        }
    }
}
