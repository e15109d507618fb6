//! The weights of a model: from safetensors or GGUF files, or randomly initialized for training.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use burn::module::Param;
use burn::tensor::{AllocationProperty, Bytes, DType, Device, Distribution, Tensor, TensorData};
use bytes::BytesMut;

use super::convert;
use super::gguf::{GgufFile, GgufWeights};
use super::safetensors::SafetensorsFile;
use super::weight_file::{StoredTensor, WeightFile};
#[cfg(feature = "cube")]
use crate::cube;
use crate::device::{computes_on_host, has_cubes, has_kernels};
use crate::error::{DeviceError, Error, LoadError, Result};
use crate::kernels::{
    Activations, Arena, Format, Group, GroupFormat, PanelFormat, Panels, StoredGroups, StoredMatrix,
};
use crate::memory;
#[cfg(feature = "cube")]
use crate::model::linear::DevicePanels;
use crate::model::linear::Weight;
use crate::model::{Model, ModelConfig, Role, Source as TensorSource};
use crate::storage::{MatrixFormat, Storage};

/// Supplies tensors by their name in a Hugging Face checkpoint.
pub struct Weights<'a> {
    source: Source<'a>,
    device: Device,
    dtype: DType,
    /// How matrices are quantized.
    storage: Option<Storage>,
    /// Whether the bits of a row must not depend on the other rows of a product.
    #[cfg_attr(not(feature = "cube"), allow(dead_code))]
    batch_invariant: bool,
    /// The memory of the tensors supplied so far, in bytes.
    bytes: Cell<usize>,
    /// The weights of the matrices supplied so far, by the name of their format.
    weights_in: RefCell<BTreeMap<&'static str, usize>>,
    /// The formats of the embedding matrices and of the head, as far as they were supplied.
    embeddings_in: RefCell<BTreeSet<&'static str>>,
    /// Whether quantized weights were dequantized, for a device without kernels of this crate.
    dequantized: Cell<bool>,
    /// Whether a matrix supplied so far is quantized.
    has_quantized: Cell<bool>,
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

    /// Takes tensors from a GGUF file, and converts them to `dtype` on demand. `config` is that of
    /// the file, by [`ModelConfig::from_gguf`].
    ///
    /// # Errors
    /// Metadata of the wrong type.
    pub fn from_gguf(
        file: &'a GgufFile<'a>,
        config: &ModelConfig,
        device: &Device,
        dtype: DType,
    ) -> Result<Self> {
        let tensors = WeightFile::Gguf(GgufWeights::new(file, config)?);
        Self::from_weight_files(vec![tensors], file.origin(), device, dtype)
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
                    return Err(LoadError::TensorTwice {
                        origin: file.origin().to_owned(),
                        tensor: name.to_owned(),
                        other: files[first].origin().to_owned(),
                    }
                    .into());
                }
            }
        }
        let files = Files {
            origin: origin.to_owned(),
            files,
            untaken: RefCell::new(file_of.clone()),
            file_of,
            arena: RefCell::new(Arena::new(0)),
        };
        let weights = Self {
            source: Source::Files(files),
            device: device.clone(),
            dtype,
            storage: None,
            batch_invariant: false,
            bytes: Cell::new(0),
            weights_in: RefCell::default(),
            embeddings_in: RefCell::default(),
            dequantized: Cell::new(false),
            has_quantized: Cell::new(false),
        };
        Ok(weights.with_arena())
    }

    /// Sizes the memory of all matrices.
    fn with_arena(mut self) -> Self {
        let expected = usize::try_from(self.memory()).unwrap_or(usize::MAX);
        if let Source::Files(files) = &mut self.source {
            files.arena = RefCell::new(Arena::new(expected));
        }
        self
    }

    /// Quantizes matrices of files as `storage` says.
    pub fn stored_as(mut self, storage: Storage) -> Self {
        self.storage = Some(storage);
        self.with_arena()
    }

    /// Asks for products on a GPU whose bits depend on no other row: see
    /// [`OpenDevice`](crate::device::OpenDevice::batch_invariant).
    pub fn batch_invariant(mut self, batch_invariant: bool) -> Self {
        self.batch_invariant = batch_invariant;
        self
    }

    /// The format of a matrix, or none for that of the file's quantized blocks, if it `has_blocks`,
    /// and for the type of all others.
    fn format_of(&self, role: Role, has_blocks: bool) -> Option<MatrixFormat> {
        let storage = self.storage?;
        match role {
            Role::Layer | Role::Part { .. } | Role::Transposed => {
                storage.layers.map(MatrixFormat::Quantized)
            }
            Role::Router => None,
            Role::Embedding => storage.embedding_format(has_blocks),
        }
    }

    /// What quantized weights are multiplied with.
    fn activations(&self) -> Activations {
        self.storage.map(|storage| storage.activations).unwrap_or_default()
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
            batch_invariant: false,
            bytes: Cell::new(0),
            weights_in: RefCell::default(),
            embeddings_in: RefCell::default(),
            dequantized: Cell::new(false),
            has_quantized: Cell::new(false),
        }
    }

    /// Checks, after loading, that what was said of quantized weights has met some.
    ///
    /// # Errors
    /// Activations in int8 where all weights are numbers.
    pub(crate) fn check_activations(&self) -> Result<()> {
        if self.activations() == Activations::Int8 && !self.has_quantized.get() {
            return Err(LoadError::NothingQuantized.into());
        }
        Ok(())
    }

    /// Whether quantized weights of a file were dequantized, for a device without kernels of this
    /// crate.
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
    /// Where the address space has a limit (`ulimit -v`), all counts that is reserved: a piece of the
    /// arena that is not full, what the allocator keeps for each thread, and, for a vocabulary out of
    /// all proportion, the scores of a step.
    ///
    /// # Errors
    /// Weights whose storage type takes more memory than the host has.
    pub(crate) fn check_memory(&self, vocab_size: usize) -> Result<()> {
        /// Logits, and what a sampler makes of them, for each token.
        const SCORES: u128 = 64;
        /// Two of the heaps that glibc reserves for threads, or less for a small model.
        const HEAPS: u128 = 128 << 20;
        let Source::Files(files) = &self.source else {
            return Ok(());
        };
        let bytes = self.memory();
        let around = files.arena.borrow().piece() as u128 + bytes.min(HEAPS);
        let reserved = bytes + around + vocab_size as u128 * SCORES;
        let fits = memory::fits(bytes) && memory::fits_into_addresses(reserved);
        if !computes_on_host(&self.device) || fits {
            Ok(())
        } else {
            Err(LoadError::WeightsTooLarge { origin: files.origin.clone(), bytes }.into())
        }
    }

    /// The memory of all tensors of the files as they are stored here, in bytes. Vectors, which are
    /// never quantized, count as matrices: they are too small to matter.
    fn memory(&self) -> u128 {
        let Source::Files(files) = &self.source else {
            return 0;
        };
        let bytes_of = |name: &str, numbers: usize, blocks: Option<GroupFormat>| {
            let dense = |dtype| numbers as u128 * convert::stored_as(dtype).size() as u128;
            if !has_kernels(&self.device) && !has_cubes(&self.device) {
                return dense(self.dtype);
            }
            let groups = match self.format_of(Role::of(name), blocks.is_some()) {
                Some(MatrixFormat::Dense(precision)) => return dense(precision.dtype()),
                Some(MatrixFormat::Quantized(format)) => Some(GroupFormat::from(format)),
                None => blocks,
            };
            match groups {
                Some(format) => numbers as u128 * format.bytes_of_1024() as u128 / 1024,
                None => dense(self.dtype),
            }
        };
        files.files.iter().map(|file| file.memory(bytes_of)).sum()
    }

    /// Uploads a converted tensor to the device.
    fn upload<const D: usize>(&self, bytes: BytesMut, shape: [usize; D]) -> Param<Tensor<D>> {
        self.count(bytes.len());
        let bytes = Bytes::from_shared(bytes.freeze(), AllocationProperty::Other);
        let data = TensorData::from_bytes(bytes, shape, convert::stored_as(self.dtype));
        Param::from_tensor(Tensor::from_data(data, (&self.device, self.dtype)))
    }

    /// Packs a matrix of a file for the kernels, into memory of `arena`.
    fn pack(
        &self,
        files: &Files<'_>,
        stored: &StoredTensor<'_>,
        shape: [usize; 2],
        role: Role,
        arena: &mut Arena,
    ) -> Result<Panels> {
        let matrix = StoredMatrix {
            format: Format::of(stored.dtype()),
            length: stored.length(),
            is_transposed: files.has_transposed(role),
            read: &|range, use_bytes| {
                use_bytes(stored.bytes(range, &mut Vec::new())?);
                Ok(())
            },
        };
        let blocks = stored.group_format();
        let panels = match (self.format_of(role, blocks.is_some()), blocks) {
            (None, Some(format)) => {
                let read_row = &|row, groups: &mut [Group]| stored.read_groups(row, groups);
                Panels::from_groups(&StoredGroups { format, read_row }, shape, arena)
            }
            (Some(MatrixFormat::Dense(precision)), _) => {
                Panels::pack(&matrix, shape, Format::of(precision.dtype()), arena)
            }
            (Some(MatrixFormat::Quantized(format)), _) => {
                let rounding = self.storage.map(|storage| storage.rounding).unwrap_or_default();
                Panels::quantize(&matrix, shape, format, rounding, arena)
            }
            (None, None) => Panels::pack(&matrix, shape, Format::of(self.dtype), arena),
        }?;
        self.count(panels.bytes());
        self.count_matrix(panels.format().name(), shape, role);
        if matches!(panels.format(), PanelFormat::Quantized(_)) {
            self.has_quantized.set(true);
        }
        Ok(panels)
    }

    fn count_matrix(&self, format: &'static str, [n_out, n_in]: [usize; 2], role: Role) {
        *self.weights_in.borrow_mut().entry(format).or_default() += n_out * n_in;
        if role == Role::Embedding {
            self.embeddings_in.borrow_mut().insert(format);
        }
    }

    fn count(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes);
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

/// Rejects a matrix that is larger than a tensor may be on a GPU. Burn would report that only of what is
/// computed with it.
#[cfg(feature = "cube")]
fn check_size(name: &str, panels: &Panels, device: &Device) -> Result<()> {
    let (bytes, largest) = (panels.bytes() as u128, cube::memory_of(device).largest);
    if bytes <= largest {
        return Ok(());
    }
    let reason = format!(
        "`{name}` takes {bytes} bytes, and a tensor may take {largest} there: store the weights in a smaller type"
    );
    Err(DeviceError::Failed(reason).into())
}

impl Role {
    /// By the name of a tensor: that of a layer has its number, as `model.layers.3.mlp.up_proj`.
    fn of(name: &str) -> Self {
        if name.split('.').any(|part| part.parse::<usize>().is_ok()) {
            Self::Layer
        } else {
            Self::Embedding
        }
    }
}

impl TensorSource for Weights<'_> {
    // ANCHOR: matrix
    fn matrix(&self, name: &str, shape: [usize; 2], role: Role) -> Result<Weight> {
        let Source::Files(files) = &self.source else {
            self.count_matrix(self.dtype.name(), shape, role);
            return Ok(Weight::Dense(Param::from_tensor(self.random_tensor(name, shape))));
        };
        let stored = files.find_matrix(name, shape, role)?;
        #[cfg(feature = "cube")]
        if has_cubes(&self.device) {
            // The memory of the host is needed until the matrix is on the device.
            let panels = self.pack(files, &stored, shape, role, &mut Arena::new(0))?;
            check_size(name, &panels, &self.device)?;
            let (device, dtype) = (&self.device, self.dtype);
            let panels = DevicePanels::upload(panels, device, dtype, self.batch_invariant);
            return Ok(Weight::Panels(panels));
        }
        self.count_matrix(self.dtype.name(), shape, role);
        if stored.group_format().is_some() {
            self.dequantized.set(true);
        }
        let mut bytes = BytesMut::new();
        convert::append(&stored, self.dtype, &mut bytes)?;
        if files.has_transposed(role) {
            bytes = convert::transposed(&bytes, self.dtype, shape[0]);
        }
        Ok(Weight::Dense(self.upload(bytes, shape)))
    }
    // ANCHOR_END: matrix

    fn panels(&self, name: &str, shape: [usize; 2], role: Role) -> Result<Panels> {
        let Source::Files(files) = &self.source else {
            self.count_matrix(self.dtype.name(), shape, role);
            return Panels::from_numbers(&on_host(self.random_tensor(name, shape))?, shape);
        };
        let stored = files.find_matrix(name, shape, role)?;
        let panels = self.pack(files, &stored, shape, role, &mut files.arena.borrow_mut())?;
        Ok(panels.with_activations(self.activations()))
    }

    fn vector(&self, name: &str, length: usize) -> Result<Param<Tensor<1>>> {
        let Source::Files(files) = &self.source else {
            return Ok(Param::from_tensor(self.random_tensor(name, [length])));
        };
        let mut bytes = BytesMut::new();
        convert::append(&files.find(name, &[length])?, self.dtype, &mut bytes)?;
        Ok(self.upload(bytes, [length]))
    }

    fn numbers(&self, name: &str, length: usize) -> Result<Vec<f32>> {
        let Source::Files(files) = &self.source else {
            return on_host(self.random_tensor(name, [length]));
        };
        let mut bytes = BytesMut::new();
        convert::append(&files.find(name, &[length])?, DType::F32, &mut bytes)?;
        self.count(bytes.len());
        Ok(bytemuck::pod_collect_to_vec(&bytes))
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

    fn formats(&self) -> Vec<&'static str> {
        let weights_in = self.weights_in.borrow();
        let mut formats: Vec<_> = weights_in.iter().collect();
        formats.sort_by_key(|&(_, weights)| Reverse(*weights));
        formats.into_iter().map(|(name, _)| *name).collect()
    }

    fn embedding_formats(&self) -> Vec<&'static str> {
        self.embeddings_in.borrow().iter().copied().collect()
    }

    fn storage(&self) -> Option<Storage> {
        self.storage
    }

    fn bytes(&self) -> usize {
        self.bytes.get()
    }

    fn device(&self) -> &Device {
        &self.device
    }
}

impl Files<'_> {
    /// Whether matrices of this role are stored as `[in, out]`.
    fn has_transposed(&self, role: Role) -> bool {
        role == Role::Transposed && self.files.iter().all(WeightFile::has_transposed)
    }

    /// Looks up a matrix of shape `[out, in]`, and marks it as used.
    fn find_matrix(
        &self,
        name: &str,
        [n_out, n_in]: [usize; 2],
        role: Role,
    ) -> Result<StoredTensor<'_>> {
        if let Role::Part { first, total } = role {
            let whole = self.find(name, &[total, n_in])?;
            return Ok(whole.rows(first, [n_out, n_in]));
        }
        let shape = if self.has_transposed(role) {
            [n_in, n_out]
        } else {
            [n_out, n_in]
        };
        self.find(name, &shape)
    }

    /// Looks up a tensor, and marks it as used.
    fn find(&self, name: &str, shape: &[usize]) -> Result<StoredTensor<'_>> {
        let Some(&file) = self.file_of.get(name) else {
            let in_file = self.files.first().map(|file| file.name_in_file(name));
            let tensor = in_file.unwrap_or_else(|| name.to_owned());
            return Err(LoadError::TensorMissing { origin: self.origin.clone(), tensor }.into());
        };
        let stored = self.files[file].tensor(name, shape)?;
        self.untaken.borrow_mut().remove(name);
        Ok(stored)
    }
}

/// The numbers of a tensor, in row-major order.
fn on_host<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>> {
    tensor
        .try_into_vec_as::<f32>()
        .map_err(|error| Error::Device(DeviceError::Failed(error.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Precision;
    use crate::kernels::{Quantized, Rounding};
    use crate::model::ModelConfig;

    const EMBER: &[u8] = include_bytes!("../../models/ember/model.safetensors");
    const CONFIG: &[u8] = include_bytes!("../../models/ember/config.json");

    /// What is compared with the memory that is left must be what loading takes, in each storage:
    /// a model that fits as int4 must not be refused for its size in f32.
    #[test]
    fn the_memory_is_known_before_anything_is_loaded() {
        let [int8, int4] = [Quantized::Int8, Quantized::Int4];
        let [f32, f16] = [Precision::F32, Precision::F16];
        let dense = |precision| Some(MatrixFormat::Dense(precision));
        let quantized = |format| Some(MatrixFormat::Quantized(format));
        for (precision, layers, embedding, expected) in [
            (f32, None, None, &["f32"][..]),
            (f16, None, None, &["f16"]),
            (f16, None, dense(f32), &["f16", "f32"]),
            (f16, None, quantized(int8), &["f16", "int8"]),
            // The embedding is in int8 where the layers are quantized, unless another is asked for.
            (f32, Some(int8), None, &["int8"]),
            (f16, Some(int8), None, &["int8"]),
            (f32, Some(int4), None, &["int4", "int8"]),
            (f32, Some(int8), dense(f32), &["int8", "f32"]),
            (f16, Some(int8), dense(f32), &["int8", "f32"]),
            (f32, Some(int4), dense(f16), &["int4", "f16"]),
            (f32, Some(int8), quantized(int4), &["int8", "int4"]),
            (f32, Some(int4), quantized(int4), &["int4"]),
        ] {
            let rounding = Rounding::default();
            let activations = Activations::default();
            let storage = Storage { precision, layers, embedding, rounding, activations };
            let device = Device::flex();
            let weights = Weights::from_safetensors(EMBER, "ember", &device, precision.dtype());
            let weights = weights.unwrap().stored_as(storage);
            let foreseen = weights.memory() as f64;
            let config = ModelConfig::from_json(CONFIG, "config").unwrap();
            let model = Model::load(config, &weights).unwrap();
            let taken = model.bytes() as f64;
            assert!((foreseen / taken - 1.0).abs() < 0.01, "{storage:?}: {foreseen}, {taken}");
            assert_eq!(model.weight_formats(), expected, "{storage:?}");
        }
    }
}
