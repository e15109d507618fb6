//! Where a model's numbers come from: safetensors files, or a random start for training.

use std::cell::RefCell;
use std::collections::BTreeMap;

use burn::module::Param;
use burn::tensor::{Bytes, DType, Device, Distribution, Tensor, TensorData};
use bytes::BytesMut;

use super::arena::Arena;
use super::convert;
use super::safetensors::{SafetensorsFile, StoredTensor};
use crate::error::{Error, Result};

/// Hands out tensors by their name in a Hugging Face checkpoint.
pub struct Weights<'a> {
    source: Source<'a>,
    device: Device,
    dtype: DType,
}

enum Source<'a> {
    Files(Files<'a>),
    Random,
}

struct Files<'a> {
    /// Names the whole in errors, where no single file is to blame.
    origin: String,
    files: Vec<SafetensorsFile<'a>>,
    /// In which file each tensor lies. What was handed out is taken out, so that in the end
    /// the tensors remain that nothing asked for.
    untaken: RefCell<BTreeMap<String, usize>>,
    /// In which file each tensor lies.
    file_of: BTreeMap<String, usize>,
    /// Where their numbers are put.
    arena: RefCell<Arena>,
}

impl<'a> Weights<'a> {
    /// Takes tensors from the files of one checkpoint; they are converted to `dtype` as they
    /// are asked for. `origin` names the whole in errors.
    ///
    /// # Errors
    /// Two files that hold a tensor of the same name.
    pub fn from_files(
        files: Vec<SafetensorsFile<'a>>,
        origin: &str,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let mut file_of = BTreeMap::new();
        for (i, file) in files.iter().enumerate() {
            for name in file.names() {
                if let Some(first) = file_of.insert(name.to_owned(), i) {
                    return Err(Error::TensorTwice {
                        origin: file.origin().to_owned(),
                        tensor: name.to_owned(),
                        other: files[first].origin().to_owned(),
                    });
                }
            }
        }
        // A number takes two bytes in a file at least, and four here at most.
        let arena = Arena::new(2 * files.iter().map(SafetensorsFile::data_length).sum::<usize>());
        let files = Files {
            origin: origin.to_owned(),
            files,
            untaken: RefCell::new(file_of.clone()),
            file_of,
            arena: RefCell::new(arena),
        };
        Ok(Self { source: Source::Files(files), device: device.clone(), dtype })
    }

    /// Takes tensors from one safetensors file that lies in `bytes`. `origin` names the file
    /// in errors.
    ///
    /// # Errors
    /// A file that is truncated or whose header does not fit its data.
    pub fn from_safetensors(
        bytes: &'a [u8],
        origin: &str,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let file = SafetensorsFile::parse(bytes, origin)?;
        Self::from_files(vec![file], origin, device, dtype)
    }

    /// Fresh weights to train from: matrices are normal with a standard deviation of one by the
    /// root of their inputs, norms are ones and biases zeros. Seed the device first.
    pub fn random(device: &Device) -> Self {
        Self {
            source: Source::Random,
            device: device.clone(),
            dtype: DType::F32,
        }
    }

    /// Whether they are a random start.
    pub(super) fn are_random(&self) -> bool {
        matches!(self.source, Source::Random)
    }

    /// Where the tensors are put.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What the tensors are converted to.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The first of `prefixes` under which there is a tensor called `name`, or else the first
    /// of all: the same model is published with and without the name of its outermost part.
    pub(super) fn prefix(&self, prefixes: [&'static str; 2], name: &str) -> &'static str {
        let Source::Files(files) = &self.source else {
            return prefixes[0];
        };
        let has = |prefix: &&str| files.file_of.contains_key(&format!("{prefix}{name}"));
        prefixes.into_iter().find(has).unwrap_or(prefixes[0])
    }

    // ANCHOR: tensor
    /// The tensor called `name`, which must have this `shape`.
    ///
    /// # Errors
    /// A tensor that is missing, has another shape, or is not stored as f32, f16 or bf16.
    pub fn tensor<const D: usize>(
        &self,
        name: &str,
        shape: [usize; D],
    ) -> Result<Param<Tensor<D>>> {
        let value = match &self.source {
            Source::Random => self.random_tensor(name, shape),
            Source::Files(files) => self.upload(files.read(name, &shape, self.dtype)?, shape),
        };
        Ok(Param::from_tensor(value))
    }
    // ANCHOR_END: tensor

    /// The matrix called `name`, which is stored as `[in, out]`, turned to `[out, in]`.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub fn transposed(&self, name: &str, [n_out, n_in]: [usize; 2]) -> Result<Param<Tensor<2>>> {
        // The numbers are laid out anew. A transpose of a tensor is a view, and every product
        // would have to step through memory the long way.
        let value = match &self.source {
            Source::Random => self.random_tensor(name, [n_out, n_in]),
            Source::Files(files) => {
                self.upload(files.read_transposed(name, n_in, n_out, self.dtype)?, [n_out, n_in])
            }
        };
        Ok(Param::from_tensor(value))
    }

    fn upload<const D: usize>(&self, bytes: Bytes, shape: [usize; D]) -> Tensor<D> {
        let data = TensorData::from_bytes(bytes, shape, convert::stored_as(self.dtype));
        Tensor::from_data(data, (&self.device, self.dtype))
    }

    /// The names of the tensors that nothing has asked for.
    pub fn untaken(&self) -> Vec<String> {
        match &self.source {
            Source::Files(files) => files.untaken.borrow().keys().cloned().collect(),
            Source::Random => Vec::new(),
        }
    }

    fn random_tensor<const D: usize>(&self, name: &str, shape: [usize; D]) -> Tensor<D> {
        let options = (&self.device, self.dtype);
        if name.ends_with("bias") {
            return Tensor::zeros(shape, options);
        }
        if D == 1 {
            return Tensor::ones(shape, options);
        }
        // ANCHOR: random
        // `[out, in]`: what goes in with unit variance comes out with unit variance.
        // With the 0.02 that large models use, a narrow one takes many times as many
        // steps before its attention looks beyond the nearest tokens.
        let std = (shape[D - 1] as f64).powf(-0.5);
        Tensor::random(shape, Distribution::Normal(0.0, std), options)
        // ANCHOR_END: random
    }
}

impl Files<'_> {
    fn read(&self, name: &str, shape: &[usize], dtype: DType) -> Result<Bytes> {
        let stored = self.find(name, shape)?;
        let length = shape.iter().product::<usize>() * convert::stored_as(dtype).size();
        let append = |to: &mut BytesMut| convert::append(&stored, dtype, to);
        Ok(self.arena.borrow_mut().store(length, append))
    }

    /// The matrix that is stored as `[rows, columns]`, turned.
    fn read_transposed(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
        dtype: DType,
    ) -> Result<Bytes> {
        let stored = self.find(name, &[rows, columns])?;
        let as_stored = stored.dtype == convert::stored_as(dtype);
        let mut converted = BytesMut::new();
        if !as_stored {
            convert::append(&stored, dtype, &mut converted);
        }
        let matrix = if as_stored { stored.data } else { &converted };
        let append = |to: &mut BytesMut| match convert::stored_as(dtype).size() {
            2 => convert::append_transposed::<2>(matrix, columns, to),
            _ => convert::append_transposed::<4>(matrix, columns, to),
        };
        let bytes = self.arena.borrow_mut().store(matrix.len(), append);
        stored.release(0..stored.data.len());
        Ok(bytes)
    }

    /// Looks a tensor up that is asked for.
    fn find(&self, name: &str, shape: &[usize]) -> Result<StoredTensor<'_>> {
        let Some(&file) = self.file_of.get(name) else {
            let (origin, tensor) = (self.origin.clone(), name.to_owned());
            return Err(Error::TensorMissing { origin, tensor });
        };
        let stored = self.files[file].tensor(name, shape)?;
        self.untaken.borrow_mut().remove(name);
        Ok(stored)
    }
}
