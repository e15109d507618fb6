//! The tensors of a checkpoint's files, by name.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use burn::tensor::DType;
use bytes::BytesMut;

use super::names;
use super::quantized::{Parts, QuantizedMatrix, Sharing, power_of_two};
use crate::checkpoint::convert;
use crate::checkpoint::quantization::Quantization;
use crate::checkpoint::safetensors::RawTensor;
use crate::checkpoint::weight_file::{StoredTensor, WeightFile};
use crate::error::{Error, LoadError, Result};
use crate::kernels::{Arena, GROUP, StoredMatrix};
use crate::model::{Columns, Role};

pub(super) struct Files<'a> {
    /// The name of the checkpoint, for errors that concern no single file.
    pub(super) origin: String,
    pub(super) files: Vec<WeightFile<'a>>,
    /// How somebody else quantized them, if so.
    pub(super) quantization: Option<Quantization>,
    /// The tensors that were not supplied yet. After loading, these are the unused ones.
    pub(super) untaken: RefCell<BTreeSet<String>>,
    /// The file of each tensor, and its name there.
    file_of: BTreeMap<String, (usize, String)>,
    /// The memory of packed matrices.
    pub(super) arena: RefCell<Arena>,
}

impl<'a> Files<'a> {
    /// # Errors
    /// Two files that hold a tensor of the same name.
    pub(super) fn new(files: Vec<WeightFile<'a>>, origin: &str) -> Result<Self> {
        let mut file_of = BTreeMap::new();
        for (i, file) in files.iter().enumerate() {
            for name in file.names() {
                let common = names::common(name);
                if let Some((first, _)) = file_of.insert(common, (i, name.to_owned())) {
                    return Err(LoadError::TensorTwice {
                        origin: file.origin().to_owned(),
                        tensor: name.to_owned(),
                        other: files[first].origin().to_owned(),
                    }
                    .into());
                }
            }
        }
        Ok(Self {
            origin: origin.to_owned(),
            files,
            quantization: None,
            untaken: RefCell::new(file_of.keys().cloned().collect()),
            file_of,
            arena: RefCell::new(Arena::new(0)),
        })
    }

    /// Whether there is a tensor called `name`.
    pub(super) fn has(&self, name: &str) -> bool {
        self.file_of.contains_key(name)
    }

    /// Looks up a matrix of shape `[out, in]`, and marks it as used.
    pub(super) fn find_matrix(
        &self,
        name: &str,
        [n_out, n_in]: [usize; 2],
        role: Role,
    ) -> Result<StoredTensor<'_>> {
        if let Role::Part { first, total } = role {
            let whole = self.find(name, &[total, n_in])?;
            return Ok(whole.rows(first, [n_out, n_in]));
        }
        if let Role::OneOf { index, count, first, rows } = role {
            let all = self.find(name, &[count, rows, n_in])?;
            return Ok(all.rows(index * rows + first, [n_out, n_in]));
        }
        if let Role::OfHeads(of) = role {
            return self.find(name, &[of.heads * of.rows, n_in])?.of_heads(of, n_in);
        }
        if let Role::KeysAndValues { heads, plain: plain @ 1.. } = role
            && let [keys, values] =
                ["k_b_proj", "v_b_proj"].map(|part| name.replace("kv_b_proj", part))
            && (self.has(&keys) || self.has(&values))
        {
            return self.find_keys_and_values([&keys, &values], [n_out, n_in], [heads, plain]);
        }
        if let Role::HalfOfHead { is_key, head, heads, plain, value_dim } = role {
            let (rows, shape) = (plain + value_dim, [n_out, n_in]);
            if self.has(name) {
                let (first, rank) = (head * rows, if is_key { n_out } else { n_in });
                let both = self.find(name, &[heads * rows, rank])?;
                return match is_key {
                    true => both.rows(first, [plain, rank]).transposed(rank),
                    false => Ok(both.rows(first + plain, shape)),
                };
            }
            let part = if is_key { "k_b_proj" } else { "v_b_proj" };
            let all = self.find(&name.replace("kv_b_proj", part), &[heads * n_out, n_in])?;
            return Ok(all.rows(head * n_out, shape));
        }
        if let Role::Columns(columns) = role {
            if self.has(&format!("{name}_blocks")) && n_in.is_multiple_of(GROUP) {
                return self.find_mxfp4(name, [n_out, n_in], columns);
            }
            let shape = [columns.count, n_in, columns.step * n_out];
            return self.find(name, &shape)?.columns(columns, [n_out, n_in]);
        }
        if role == Role::Transposed && self.files.iter().all(WeightFile::has_transposed) {
            return self.find(name, &[n_in, n_out])?.transposed(n_out);
        }
        self.find(name, &[n_out, n_in])
    }

    /// Looks up a vector, the bias of a matrix of this role, and marks it as used.
    pub(super) fn find_vector(
        &self,
        name: &str,
        length: usize,
        role: Role,
    ) -> Result<StoredTensor<'_>> {
        match role {
            Role::Part { first, total } => Ok(self.find(name, &[total])?.rows(first, [length, 1])),
            Role::Convolution { width } => self.find(name, &[length / width, 1, width]),
            Role::Columns(columns) => {
                let all = self.find(name, &[columns.count, columns.step * length])?;
                all.columns(columns, [length, 1])
            }
            _ => self.find(name, &[length]),
        }
    }

    /// Whether two matrices have the same numbers in the same type. Both are marked as used.
    pub(super) fn are_equal(&self, one: &str, other: &str, shape: [usize; 2]) -> Result<bool> {
        /// Bytes that are compared at once: many rows of 256 numbers.
        const PIECE: usize = 1 << 20;
        let (one, other) = (self.find(one, &shape)?, self.find(other, &shape)?);
        if one.dtype() != other.dtype() || one.length() != other.length() {
            return Ok(false);
        }
        let (mut buffer, mut other_buffer) = (Vec::new(), Vec::new());
        for start in (0..one.length()).step_by(PIECE) {
            let range = start..one.length().min(start + PIECE);
            let piece = one.bytes(range.clone(), &mut buffer)?;
            if piece != other.bytes(range, &mut other_buffer)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks up a tensor, and marks it as used.
    pub(super) fn find(&self, name: &str, shape: &[usize]) -> Result<StoredTensor<'_>> {
        if let (Some(quantization), [rows, columns]) = (&self.quantization, shape)
            && let Some(layer) = name.strip_suffix("weight")
            && let Some(matrix) =
                quantization.matrix(&Parts { files: self, layer }, [*rows, *columns])?
        {
            return Ok(StoredTensor::quantized(matrix));
        }
        self.find_by(name, |file, name| file.tensor(name, shape))
    }

    /// What the file calls the tensor called `name`, if there is one.
    pub(super) fn name_in_file(&self, name: &str) -> Option<&str> {
        self.file_of.get(name).map(|(_, in_file)| in_file.as_str())
    }

    /// Marks a tensor as used.
    pub(super) fn skip(&self, name: &str) {
        self.untaken.borrow_mut().remove(name);
    }

    /// The tensor called `name`, whatever its type and shape, with the names of its file and in it. It is marked
    /// as used.
    pub(super) fn raw(&self, name: &str) -> Result<(String, String, RawTensor)> {
        let Some((file, in_file)) = self.file_of.get(name) else {
            let (origin, tensor) = (self.origin.clone(), name.to_owned());
            return Err(LoadError::TensorMissing { origin, tensor }.into());
        };
        let file = &self.files[*file];
        let raw = file.raw(in_file)?;
        self.skip(name);
        Ok((file.origin().to_owned(), in_file.clone(), raw))
    }

    /// As [`find`](Self::find), in the way that `read` says.
    fn find_by<'b>(
        &'b self,
        name: &str,
        read: impl FnOnce(&'b WeightFile<'a>, &str) -> Result<StoredTensor<'b>>,
    ) -> Result<StoredTensor<'b>> {
        let Some((file, in_file)) = self.file_of.get(name) else {
            let in_file = self.files.first().map(|file| file.name_in_file(name));
            let tensor = in_file.unwrap_or_else(|| name.to_owned());
            return Err(LoadError::TensorMissing { origin: self.origin.clone(), tensor }.into());
        };
        let stored = read(&self.files[*file], in_file)?;
        self.skip(name);
        Ok(stored)
    }

    /// What latent attention makes of latent vectors, from its two tensors: numbers in f32.
    fn find_keys_and_values(
        &self,
        [keys, values]: [&str; 2],
        [n_out, n_in]: [usize; 2],
        [heads, plain]: [usize; 2],
    ) -> Result<StoredTensor<'_>> {
        let value_dim = n_out / heads - plain;
        let read = |name: &str, shape: &[usize]| {
            let mut bytes = BytesMut::new();
            convert::append(&self.find(name, shape)?, DType::F32, &mut bytes)?;
            Ok::<_, Error>(bytes)
        };
        let keys = read(keys, &[heads * n_in, plain])?;
        let values = read(values, &[heads * value_dim, n_in])?;
        let [of_keys, of_values] = [plain, value_dim].map(|rows| rows * n_in * size_of::<f32>());
        let both = keys.chunks_exact(of_keys).zip(values.chunks_exact(of_values));
        let rows = both.flat_map(|(keys, values)| {
            [&convert::transposed(keys, DType::F32, plain), values].concat()
        });
        Ok(StoredTensor::turned(DType::F32, rows.collect()))
    }

    /// Rows of one of several matrices that are stored in blocks of MXFP4: 32 numbers of 4 bits each, with a power of
    /// two that they are multiplied by (Open Compute Project, Microscaling Formats Specification 1.0).
    fn find_mxfp4(
        &self,
        name: &str,
        [n_out, n_in]: [usize; 2],
        columns: Columns,
    ) -> Result<StoredTensor<'_>> {
        let Columns { index, count, first, step } = columns;
        let (rows, groups) = (step * n_out, n_in / GROUP);
        let part = |kind: &str, shape: &[usize]| {
            let name = format!("{name}_{kind}");
            let all = self.find_by(&name, |file, name| file.bytes_of(name, shape))?;
            let (matrix, mut buffer) = (all.length() / count, Vec::new());
            all.bytes(index * matrix..(index + 1) * matrix, &mut buffer).map(<[u8]>::to_vec)
        };
        let scales = part("scales", &[count, rows, groups])?;
        let blocks = part("blocks", &[count, rows, groups, GROUP / 2])?;
        let pair = |row, i| blocks[(first + row * step) * (n_in / 2) + i];
        let scales = scales.chunks_exact(groups).skip(first).step_by(step).flatten();
        Ok(StoredTensor::quantized(QuantizedMatrix::in_e2m1(
            [n_out, n_in],
            pair,
            Sharing::Blocks { rows: 1, columns: GROUP },
            scales.map(|exponent| power_of_two(*exponent)),
        )))
    }
}
