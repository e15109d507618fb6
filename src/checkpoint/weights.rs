//! The weights of a model: from safetensors or GGUF files, or randomly initialized for training.

mod files;
mod loaded;
mod memory;
mod names;
mod quantized;

use std::cell::RefCell;
use std::collections::BTreeSet;

use burn::module::Param;
use burn::tensor::{AllocationProperty, Bytes, DType, Device, Distribution, Tensor, TensorData};
use bytes::BytesMut;

use super::convert;
use super::gguf::{GgufFile, GgufWeights};
use super::quantization::Quantization;
use super::safetensors::SafetensorsFile;
use super::weight_file::{StoredTensor, WeightFile};
#[cfg(feature = "cube")]
use crate::device::has_cubes;
use crate::error::{LoadError, Result};
#[cfg(feature = "cube")]
use crate::kernels::GroupFormat;
use crate::kernels::{Activations, Arena, Panels, Precision};
use crate::model::config::Family;
#[cfg(feature = "cube")]
use crate::model::linear::DevicePanels;
use crate::model::linear::Weight;
use crate::model::{Model, ModelConfig, Role, Source as TensorSource, to_host};
use crate::storage::{MatrixFormat, Storage};
use files::Files;
use loaded::Loaded;
#[cfg(feature = "cube")]
use memory::check_size;
pub(super) use quantized::QuantizedMatrix;

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
    loaded: RefCell<Loaded>,
}

enum Source<'a> {
    Files(Files<'a>),
    Random,
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
        Ok(Self::new(Source::Files(Files::new(files, origin)?), device, dtype))
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
        let files = Files::new(vec![tensors], file.origin())?;
        Ok(Self::new(Source::Files(files), device, dtype))
    }

    fn new(source: Source<'a>, device: &Device, dtype: DType) -> Self {
        let weights = Self {
            source,
            device: device.clone(),
            dtype,
            storage: None,
            batch_invariant: false,
            loaded: RefCell::default(),
        };
        weights.with_arena()
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

    /// Says how the matrices of the files were quantized when they were published: `quantization_config` in this
    /// `config.json`, if it has one. `origin` names it in errors.
    ///
    /// # Errors
    /// A layout that is not read.
    pub fn quantized_as(mut self, config: &[u8], origin: &str) -> Result<Self> {
        if let Source::Files(files) = &mut self.source {
            files.quantization = Quantization::from_json(config, origin)?;
        }
        Ok(self.with_arena())
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
            Role::Layer
            | Role::Part { .. }
            | Role::OneOf { .. }
            | Role::KeysAndValues { .. }
            | Role::HalfOfHead { .. }
            | Role::Columns(_)
            | Role::Transposed => storage.layers.map(MatrixFormat::Quantized),
            Role::OfHeads(of) if !of.is_router => storage.layers.map(MatrixFormat::Quantized),
            Role::Router | Role::Convolution { .. } | Role::OfHeads(_) => None,
            Role::Embedding => storage.embedding_format(has_blocks),
        }
    }

    /// What weights are multiplied with.
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
        Self::new(Source::Random, device, DType::F32)
    }

    /// Checks, after loading, that what was said of activations has met weights that they fit.
    ///
    /// # Errors
    /// Activations that no weight of the model fits: see [`Activations::fit`].
    pub(crate) fn check_activations(&self) -> Result<()> {
        let activations = self.activations();
        if activations != Activations::F32 && !self.loaded.borrow().fits_activations {
            return Err(match activations {
                Activations::Bf16 => LoadError::NothingInBf16,
                _ => LoadError::NothingQuantized,
            }
            .into());
        }
        Ok(())
    }

    /// What the files say of quantization that is not followed.
    pub(crate) fn not_followed(&self) -> Option<String> {
        let Source::Files(files) = &self.source else {
            return None;
        };
        files.quantization.filter(|said| said.has_cache_scheme).map(|_| {
            "`kv_cache_scheme` is not followed: keys and values are stored as you ask for"
                .to_owned()
        })
    }

    /// Whether quantized weights of a file were dequantized, for a device without kernels of this
    /// crate.
    pub(crate) fn were_dequantized(&self) -> bool {
        self.loaded.borrow().dequantized
    }

    /// The tensors that `model` does not use and that its family does not expect: a sign that the
    /// files hold more than `config.json` describes.
    pub fn unused(&self, model: &Model) -> Vec<String> {
        let Source::Files(files) = &self.source else {
            return Vec::new();
        };
        let untaken = files.untaken.borrow();
        let is_unknown = |name: &&String| {
            let is_for_cache = files.quantization.is_some()
                && [".k_scale", ".v_scale"].iter().any(|end| name.ends_with(end));
            !model.can_do_without(name)
                && other_part(name, model.config()).is_none()
                && !is_for_cache
        };
        untaken.iter().filter(is_unknown).cloned().collect()
    }

    /// The parts of a model other than the one that was loaded, by what the names of their tensors begin
    /// with.
    pub(crate) fn other_parts(&self, config: &ModelConfig) -> BTreeSet<String> {
        let Source::Files(files) = &self.source else {
            return BTreeSet::new();
        };
        files.untaken.borrow().iter().filter_map(|name| other_part(name, config)).collect()
    }

    /// Uploads a converted tensor to the device.
    fn upload<const D: usize>(&self, bytes: BytesMut, shape: [usize; D]) -> Param<Tensor<D>> {
        self.loaded.borrow_mut().bytes += bytes.len();
        let bytes = Bytes::from_shared(bytes.freeze(), AllocationProperty::Other);
        let data = TensorData::from_bytes(bytes, shape, Precision::of(self.dtype).dtype());
        Param::from_tensor(Tensor::from_data(data, (&self.device, self.dtype)))
    }

    /// Packs a matrix of a file for the kernels, into memory of `arena`.
    fn pack(
        &self,
        stored: &StoredTensor<'_>,
        shape: [usize; 2],
        role: Role,
        arena: &mut Arena,
    ) -> Result<Panels> {
        let blocks = stored.group_format();
        #[cfg(feature = "cube")]
        let blocks = match has_cubes(&self.device) {
            true => blocks.and_then(GroupFormat::on_gpu),
            false => blocks,
        };
        let panels = match (self.format_of(role, blocks.is_some()), blocks) {
            (None, Some(format)) => {
                let read_row = &|row, groups: &mut [_]| stored.read_groups(row, groups);
                Panels::from_groups(read_row, shape, format, arena)
            }
            (Some(MatrixFormat::Dense(precision)), _) => {
                Panels::pack(stored, shape, precision, arena)
            }
            (Some(MatrixFormat::Quantized(format)), _) => {
                let rounding = self.storage.map(|storage| storage.rounding).unwrap_or_default();
                Panels::quantize(stored, shape, format, rounding, arena)
            }
            (None, None) => Panels::pack(stored, shape, Precision::of(self.dtype), arena),
        }?;
        let mut loaded = self.loaded.borrow_mut();
        loaded.bytes += panels.bytes();
        loaded.count_matrix(panels.format().name(), shape, role);
        loaded.fits_activations |= self.activations().fit(panels.format());
        Ok(panels)
    }

    fn random_tensor<const D: usize>(&self, name: &str, shape: [usize; D]) -> Tensor<D> {
        let numbers: usize = shape.iter().product();
        self.loaded.borrow_mut().bytes += numbers * self.dtype.size();
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

/// The part of a model that a tensor is of, if it is one that is not loaded: a part that reads pictures or
/// sound, or layers that predict several tokens at once, which DeepSeek has behind the last one, and
/// every family in GGUF files.
fn other_part(name: &str, config: &ModelConfig) -> Option<String> {
    const PARTS: [&str; 7] = [
        "vision_tower",
        "multi_modal_projector",
        "audio_tower",
        "embed_vision",
        "embed_audio",
        "visual",
        "mtp",
    ];
    let (part, rest) = name.strip_prefix("model.").unwrap_or(name).split_once('.')?;
    if PARTS.contains(&part) {
        return Some(part.to_owned());
    }
    let Family::Llama(llama) = &config.family else {
        return None;
    };
    let number: usize = rest.split('.').next()?.parse().ok()?;
    // In a GGUF file they have names of their own.
    let may_predict = llama.latent.is_some() || llama.attention_gate;
    let is_behind = ["layers", "blk"].contains(&part) && number >= config.n_layers && may_predict;
    is_behind.then(|| format!("layers.{number}"))
}

impl TensorSource for Weights<'_> {
    // ANCHOR: matrix
    fn matrix(&self, name: &str, shape: [usize; 2], role: Role) -> Result<Weight> {
        let Source::Files(files) = &self.source else {
            self.loaded.borrow_mut().count_matrix(self.dtype.name(), shape, role);
            return Ok(Weight::Dense(Param::from_tensor(self.random_tensor(name, shape))));
        };
        let stored = files.find_matrix(name, shape, role)?;
        #[cfg(feature = "cube")]
        if has_cubes(&self.device) {
            // The memory of the host is needed until the matrix is on the device.
            let panels = self.pack(&stored, shape, role, &mut Arena::new(0))?;
            check_size(name, &panels, &self.device)?;
            let (device, dtype) = (&self.device, self.dtype);
            let panels = DevicePanels::upload(panels, device, dtype, self.batch_invariant);
            return Ok(Weight::Panels(panels));
        }
        self.loaded.borrow_mut().count_matrix(self.dtype.name(), shape, role);
        self.loaded.borrow_mut().dequantized |= stored.group_format().is_some();
        let mut bytes = BytesMut::new();
        convert::append(&stored, self.dtype, &mut bytes)?;
        Ok(Weight::Dense(self.upload(bytes, shape)))
    }
    // ANCHOR_END: matrix

    fn panels(&self, name: &str, shape: [usize; 2], role: Role) -> Result<Panels> {
        let Source::Files(files) = &self.source else {
            self.loaded.borrow_mut().count_matrix(self.dtype.name(), shape, role);
            return Panels::from_numbers(&to_host(self.random_tensor(name, shape))?, shape);
        };
        let stored = files.find_matrix(name, shape, role)?;
        let panels = self.pack(&stored, shape, role, &mut files.arena.borrow_mut())?;
        // Which experts are chosen is decided by numbers that may be close.
        Ok(match role {
            Role::Router => panels,
            _ => panels.with_activations(self.activations()),
        })
    }

    fn vector(&self, name: &str, length: usize, role: Role) -> Result<Param<Tensor<1>>> {
        let Source::Files(files) = &self.source else {
            return Ok(Param::from_tensor(self.random_tensor(name, [length])));
        };
        let mut bytes = BytesMut::new();
        convert::append(&files.find_vector(name, length, role)?, self.dtype, &mut bytes)?;
        Ok(self.upload(bytes, [length]))
    }

    fn numbers(&self, name: &str, length: usize, role: Role) -> Result<Vec<f32>> {
        let Source::Files(files) = &self.source else {
            return to_host(self.random_tensor(name, [length]));
        };
        let mut bytes = BytesMut::new();
        convert::append(&files.find_vector(name, length, role)?, DType::F32, &mut bytes)?;
        self.loaded.borrow_mut().bytes += bytes.len();
        Ok(bytemuck::pod_collect_to_vec(&bytes))
    }

    fn has(&self, name: &str) -> bool {
        matches!(&self.source, Source::Files(files) if files.has(name))
    }

    fn shares(&self, head: &str, embedding: &str, shape: [usize; 2]) -> Result<bool> {
        match &self.source {
            Source::Files(files) if files.has(head) && files.has(embedding) => {
                files.are_equal(head, embedding, shape)
            }
            _ => Ok(true),
        }
    }

    fn dtype(&self) -> DType {
        self.dtype
    }

    fn formats(&self) -> Vec<&'static str> {
        self.loaded.borrow().formats()
    }

    fn embedding_formats(&self) -> Vec<&'static str> {
        self.loaded.borrow().embedding_formats()
    }

    fn storage(&self) -> Option<Storage> {
        self.storage
    }

    fn bytes(&self) -> usize {
        self.loaded.borrow().bytes
    }

    fn device(&self) -> &Device {
        &self.device
    }
}
