//! The weights of a model: from safetensors or GGUF files, or randomly initialized for training.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use burn::module::Param;
use burn::tensor::{AllocationProperty, Bytes, DType, Device, Distribution, Tensor, TensorData};
use bytes::BytesMut;

use super::convert;
use super::gguf::GgufWeights;
use super::safetensors::SafetensorsFile;
use super::weight_file::{StoredTensor, WeightFile};
use crate::device::computes_on_host;
use crate::error::{Error, Result};
use crate::kernels::{self, Arena, Format, Group, Panels, Quantized, StoredGroups, StoredMatrix};
use crate::memory;
use crate::model::{Model, PackedWeight, Source as TensorSource, Weight};
use crate::storage::Storage;

/// Supplies tensors by their name in a Hugging Face checkpoint.
pub struct Weights<'a> {
    source: Source<'a>,
    device: Device,
    dtype: DType,
    /// How matrices are quantized.
    storage: Option<Storage>,
    /// The memory of the tensors supplied so far, in bytes.
    bytes: Cell<usize>,
    /// Whether quantized weights were dequantized, for a device other than the CPU.
    dequantized: Cell<bool>,
}

enum Source<'a> {
    Files(Files<'a>),
    Random,
}

struct Files<'a> {
    /// The name of the checkpoint, for errors that concern no single file.
    origin: String,
    files: Vec<WeightFile<'a>>,
    /// The file of each tensor that was not supplied yet. After loading, these are the unused ones.
    untaken: RefCell<BTreeMap<String, usize>>,
    /// The file of each tensor.
    file_of: BTreeMap<String, usize>,
    /// The memory of packed matrices.
    arena: RefCell<Arena>,
}

impl<'a> Weights<'a> {
    /// Takes tensors from the files of one checkpoint, and converts them to `dtype` on demand.
    /// `origin` names the checkpoint in errors.
    ///
    /// # Errors
    /// Two files that hold a tensor of the same name.
    pub fn from_files(
        files: Vec<SafetensorsFile<'a>>,
        origin: &str,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let files = files.into_iter().map(WeightFile::Safetensors).collect();
        Self::from_weight_files(files, origin, device, dtype)
    }

    /// Takes tensors from a GGUF file, and converts them to `dtype` on demand.
    ///
    /// # Errors
    /// None: a file holds each tensor once.
    pub(crate) fn from_gguf(file: GgufWeights<'a>, device: &Device, dtype: DType) -> Result<Self> {
        let origin = file.origin().to_owned();
        Self::from_weight_files(vec![WeightFile::Gguf(file)], &origin, device, dtype)
    }

    fn from_weight_files(
        files: Vec<WeightFile<'a>>,
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
        let (size, kept) = (convert::stored_as(dtype).size(), kernels::serve(device));
        let memory: u128 = files.iter().map(|file| file.memory(size, kept)).sum();
        let arena = Arena::new(usize::try_from(memory).unwrap_or(usize::MAX));
        let files = Files {
            origin: origin.to_owned(),
            files,
            untaken: RefCell::new(file_of.clone()),
            file_of,
            arena: RefCell::new(arena),
        };
        Ok(Self {
            source: Source::Files(files),
            device: device.clone(),
            dtype,
            storage: None,
            bytes: Cell::new(0),
            dequantized: Cell::new(false),
        })
    }

    /// Quantizes matrices of files as `storage` says.
    pub fn stored_as(mut self, storage: Storage) -> Self {
        self.storage = Some(storage);
        self
    }

    /// The format of the layers' matrices.
    fn layers(&self) -> Option<Quantized> {
        self.storage.and_then(|storage| storage.layers)
    }

    /// Takes tensors from one safetensors file in memory. `origin` names the file in errors.
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

    /// Random weights to train from: matrices are normal with a standard deviation of
    /// `1 / sqrt(n_in)`, norms are ones and biases zeros. Seed the device first.
    pub fn random(device: &Device) -> Self {
        Self {
            source: Source::Random,
            device: device.clone(),
            dtype: DType::F32,
            storage: None,
            bytes: Cell::new(0),
            dequantized: Cell::new(false),
        }
    }

    /// Whether quantized weights of a file were dequantized, for a device other than the CPU.
    pub(crate) fn were_dequantized(&self) -> bool {
        self.dequantized.get()
    }

    /// The tensors that `model` does not use and that its family does not expect: a sign that the
    /// files hold more than `config.json` describes.
    pub fn unused(&self, model: &Model) -> Vec<String> {
        let Source::Files(files) = &self.source else {
            return Vec::new();
        };
        let untaken = files.untaken.borrow();
        untaken.keys().filter(|name| !model.can_do_without(name)).cloned().collect()
    }

    /// Rejects weights that do not fit into memory: running out of memory would end the whole
    /// process.
    ///
    /// On a GPU nothing is checked: weights pass through the host one tensor at a time, and Burn
    /// does not report the memory of a GPU.
    ///
    /// # Errors
    /// Weights whose storage type takes more memory than the host has.
    pub(crate) fn check_memory(&self) -> Result<()> {
        let Source::Files(files) = &self.source else {
            return Ok(());
        };
        let (size, kept) = (convert::stored_as(self.dtype).size(), kernels::serve(&self.device));
        let bytes = files.files.iter().map(|file| file.memory(size, kept)).sum();
        if !computes_on_host(&self.device) || memory::fits(bytes) {
            Ok(())
        } else {
            Err(Error::WeightsTooLarge { origin: files.origin.clone(), bytes })
        }
    }

    /// Uploads a converted tensor to the device, as `dtype`.
    fn upload<const D: usize>(
        &self,
        bytes: BytesMut,
        shape: [usize; D],
        dtype: DType,
    ) -> Tensor<D> {
        self.count(bytes.len());
        let bytes = Bytes::from_shared(bytes.freeze(), AllocationProperty::Other);
        let data = TensorData::from_bytes(bytes, shape, convert::stored_as(dtype));
        Tensor::from_data(data, (&self.device, dtype))
    }

    // ANCHOR: matrix
    fn stored_matrix(
        &self,
        name: &str,
        shape: [usize; 2],
        quantized: Option<Quantized>,
    ) -> Result<Weight> {
        let Source::Files(files) = &self.source else {
            return self.random_matrix(name, shape);
        };
        let stored = files.find(name, &shape)?;
        if kernels::serve(&self.device) {
            return self.pack(files, &stored, shape, false, quantized);
        }
        if stored.group_format().is_some() {
            self.dequantized.set(true);
        }
        let mut bytes = BytesMut::new();
        convert::append(&stored, self.dtype, &mut bytes)?;
        Ok(Weight::Dense(Param::from_tensor(self.upload(bytes, shape, self.dtype))))
    }
    // ANCHOR_END: matrix

    /// Packs a matrix of a file for the CPU kernels.
    fn pack(
        &self,
        files: &Files<'_>,
        stored: &StoredTensor<'_>,
        shape: [usize; 2],
        is_transposed: bool,
        quantized: Option<Quantized>,
    ) -> Result<Weight> {
        let matrix = StoredMatrix {
            format: Format::of(stored.dtype()),
            length: stored.length(),
            is_transposed,
            read: &|range, use_bytes| {
                use_bytes(stored.bytes(range, &mut Vec::new())?);
                Ok(())
            },
        };
        let arena = &mut files.arena.borrow_mut();
        let panels = match (quantized, stored.group_format()) {
            (None, Some(format)) => {
                let read_row = &|row, groups: &mut [Group]| stored.read_groups(row, groups);
                Panels::from_groups(&StoredGroups { format, read_row }, shape, arena)?
            }
            (Some(format), _) => {
                let rounding = self.storage.map(|storage| storage.rounding).unwrap_or_default();
                Panels::quantize(&matrix, shape, format, rounding, arena)?
            }
            (None, None) => Panels::pack(&matrix, shape, Format::of(self.dtype), arena)?,
        };
        self.count(panels.bytes());
        Ok(Weight::Packed(PackedWeight { panels }))
    }

    fn count(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes);
    }

    fn random_matrix(&self, name: &str, shape: [usize; 2]) -> Result<Weight> {
        let weight = self.random_tensor(name, shape);
        if !kernels::serve(&self.device) {
            return Ok(Weight::Dense(Param::from_tensor(weight)));
        }
        let panels = Panels::from_numbers(&kernels::tensor::numbers(weight), shape)?;
        Ok(Weight::Packed(PackedWeight { panels }))
    }

    fn random_tensor<const D: usize>(&self, name: &str, shape: [usize; D]) -> Tensor<D> {
        self.count(shape.iter().product::<usize>() * self.dtype.size());
        let options = (&self.device, self.dtype);
        if name.ends_with("bias") {
            return Tensor::zeros(shape, options);
        }
        if D == 1 {
            return Tensor::ones(shape, options);
        }
        // ANCHOR: random
        // `[out, in]`: unit variance in gives unit variance out. With the 0.02 of large models, a
        // narrow one takes many times as many steps before its attention reaches beyond the nearest
        // tokens.
        let std = (shape[D - 1] as f64).powf(-0.5);
        Tensor::random(shape, Distribution::Normal(0.0, std), options)
        // ANCHOR_END: random
    }
}

impl TensorSource for Weights<'_> {
    fn matrix(&self, name: &str, shape: [usize; 2]) -> Result<Weight> {
        self.stored_matrix(name, shape, self.layers())
    }

    fn embedding(&self, name: &str, shape: [usize; 2]) -> Result<Weight> {
        self.stored_matrix(name, shape, self.storage.and_then(|storage| storage.embedding))
    }

    fn transposed(&self, name: &str, [n_out, n_in]: [usize; 2]) -> Result<Weight> {
        let Source::Files(files) = &self.source else {
            return self.random_matrix(name, [n_out, n_in]);
        };
        if !files.have_transposed() {
            return self.matrix(name, [n_out, n_in]);
        }
        let stored = files.find(name, &[n_in, n_out])?;
        if kernels::serve(&self.device) {
            return self.pack(files, &stored, [n_out, n_in], true, self.layers());
        }
        // Transposes the data itself: a transposed tensor is a view, which every product would read
        // with a large stride.
        let (mut matrix, mut bytes) = (BytesMut::new(), BytesMut::new());
        convert::append(&stored, self.dtype, &mut matrix)?;
        match convert::stored_as(self.dtype).size() {
            2 => convert::append_transposed::<2>(&matrix, n_out, &mut bytes),
            _ => convert::append_transposed::<4>(&matrix, n_out, &mut bytes),
        }
        Ok(Weight::Dense(Param::from_tensor(self.upload(bytes, [n_out, n_in], self.dtype))))
    }

    /// On the CPU, vectors are f32 whatever the type of the matrices: they are small, and the
    /// arithmetic is in f32.
    fn vector(&self, name: &str, length: usize) -> Result<Param<Tensor<1>>> {
        let Source::Files(files) = &self.source else {
            return Ok(Param::from_tensor(self.random_tensor(name, [length])));
        };
        let stored = files.find(name, &[length])?;
        let dtype = if kernels::serve(&self.device) {
            DType::F32
        } else {
            self.dtype
        };
        let mut bytes = BytesMut::new();
        convert::append(&stored, dtype, &mut bytes)?;
        Ok(Param::from_tensor(self.upload(bytes, [length], dtype)))
    }

    fn prefix(&self, prefixes: [&'static str; 2], name: &str) -> &'static str {
        let Source::Files(files) = &self.source else {
            return prefixes[0];
        };
        let has = |prefix: &&str| files.file_of.contains_key(&format!("{prefix}{name}"));
        prefixes.into_iter().find(has).unwrap_or(prefixes[0])
    }

    fn is_random(&self) -> bool {
        matches!(self.source, Source::Random)
    }

    fn dtype(&self) -> DType {
        self.dtype
    }

    fn bytes(&self) -> usize {
        self.bytes.get()
    }

    fn device(&self) -> &Device {
        &self.device
    }
}

impl Files<'_> {
    /// Whether the matrices of GPT-2 are stored as `[in, out]`.
    fn have_transposed(&self) -> bool {
        self.files.iter().all(WeightFile::has_transposed)
    }

    /// Looks up a tensor, and marks it as used.
    fn find(&self, name: &str, shape: &[usize]) -> Result<StoredTensor<'_>> {
        let Some(&file) = self.file_of.get(name) else {
            let in_file = self.files.first().map(|file| file.name_in_file(name));
            let tensor = in_file.unwrap_or_else(|| name.to_owned());
            return Err(Error::TensorMissing { origin: self.origin.clone(), tensor });
        };
        let stored = self.files[file].tensor(name, shape)?;
        self.untaken.borrow_mut().remove(name);
        Ok(stored)
    }
}
