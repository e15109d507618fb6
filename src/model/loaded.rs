//! A model with weights on a device.

use std::sync::Arc;

use burn::tensor::{DType, Device};

#[cfg(feature = "cube")]
use super::MostLikely;
use super::architecture::shares_head;
use super::config::{Family, KvHeads};
use super::decoder::Decoder;
use super::gpt2::Gpt2;
use super::network::{Network, Output};
use super::{Input, Model, ModelConfig, Source};
use crate::adapter::Sites;
use crate::burn_threads;
use crate::device::has_kernels;
use crate::error::{DeviceError, Result};
use crate::kernels::{Cpu, KvFormat};
use crate::kv::KvPool;
use crate::storage::Storage;

/// What a model knows of its weights, and what it computes with.
#[derive(Debug)]
pub(super) struct Loaded {
    /// The memory of the weights, in bytes.
    bytes: usize,
    weight_formats: Vec<&'static str>,
    embedding_formats: Vec<&'static str>,
    storage: Option<Storage>,
    device: Option<Device>,
    dtype: DType,
    pub(super) cpu: Cpu,
}

impl Loaded {
    /// Of a stub, whose logits are in f32.
    pub(super) fn nothing() -> Self {
        Self {
            bytes: 0,
            weight_formats: Vec::new(),
            embedding_formats: Vec::new(),
            storage: None,
            device: None,
            dtype: DType::F32,
            cpu: Cpu::current(),
        }
    }
}

/// What a device keeps in each layer with keys and values.
fn kv_layers(config: &ModelConfig, device: &Device) -> Vec<KvHeads> {
    match has_kernels(device) {
        true => config.kv_layers(),
        false => config.whole_kv_layers(),
    }
}

impl Model {
    /// Loads the tensors that `config` requires from `weights`. On the CPU, the model computes with
    /// the current [`Cpu`]. A head that should be tied, and that has other numbers than the embedding,
    /// is loaded and not tied.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape or type; weights that do not fit into memory;
    /// a system that refuses to start threads.
    pub fn load(mut config: ModelConfig, weights: &dyn Source) -> Result<Self> {
        burn_threads::start()?;
        config.tied_head = config.tied_head && shares_head(weights, &config)?;
        let network = Network::load(weights, &config)?;
        let (device, dtype) = (weights.device().clone(), weights.dtype());
        let (bytes, weight_formats) = (weights.bytes(), weights.formats());
        let (embedding_formats, storage) = (weights.embedding_formats(), weights.storage());
        let cpu = Cpu::current();
        let budget = KvPool::default_budget(&device);
        let (layers, states) = (kv_layers(&config, &device), config.states());
        let kv_pool =
            KvPool::with_format(layers, &states, &device, dtype, KvFormat::of(dtype), budget);
        let device = Some(device);
        let loaded = Loaded {
            bytes,
            weight_formats,
            embedding_formats,
            storage,
            device,
            dtype,
            cpu,
        };
        Ok(Self { config, network, kv_pool, loaded })
    }

    /// Changes the budget of the model's KV caches, in bytes. The default is half of the memory
    /// that is left after loading. A block of a stub counts as one byte.
    pub fn with_kv_cache_bytes(mut self, bytes: usize) -> Self {
        self.kv_pool = self.new_pool(self.kv_pool.format(), bytes);
        self
    }

    /// Changes how keys and values are stored. The default is the type of the weights that are not
    /// quantized.
    ///
    /// # Errors
    /// A format that the kernels of the device do not have, or a device without any.
    pub fn with_kv_format(mut self, format: KvFormat) -> Result<Self> {
        let pool = self.new_pool(format, self.kv_pool.budget());
        if !pool.is_paged() {
            // Without blocks keys and values are tensors of the type that is computed in.
            return Err(DeviceError::KvFormatUnsupported { format: format.name() }.into());
        }
        self.kv_pool = pool;
        Ok(self)
    }

    fn new_pool(&self, format: KvFormat, budget: usize) -> KvPool {
        let Loaded { device: Some(device), dtype, .. } = &self.loaded else {
            return KvPool::counted(budget);
        };
        let (layers, states) = (kv_layers(&self.config, device), self.config.states());
        KvPool::with_format(layers, &states, device, *dtype, format, budget)
    }

    /// Whether a checkpoint may hold a tensor of this name that the network does not use.
    pub(crate) fn can_do_without(&self, tensor: &str) -> bool {
        let is_known = match &self.config.family {
            Family::Llama(_) => Decoder::can_do_without(tensor),
            Family::Gpt2 => Gpt2::can_do_without(tensor),
        };
        is_known || self.config.is_of_shared_layer(tensor)
    }

    /// The linear layers that adapters can change.
    ///
    /// # Errors
    /// A device that computes without them.
    pub(crate) fn sites(&self) -> Result<&Arc<Sites>> {
        self.network.sites().ok_or_else(|| DeviceError::AdaptersUnsupported.into())
    }

    /// Where the weights are. A stub has none.
    pub(crate) fn device(&self) -> Option<&Device> {
        self.loaded.device.as_ref()
    }

    /// The type of the weights that are not quantized, and of keys and values unless
    /// [`with_kv_format`](Self::with_kv_format) says otherwise. On the CPU all computation is in
    /// f32; on other devices it is in this type.
    pub fn dtype(&self) -> DType {
        self.loaded.dtype
    }

    /// What the matrices are stored in, by name, such as `int4` and `f32`. The format of the most
    /// weights comes first.
    pub fn weight_formats(&self) -> &[&'static str] {
        &self.loaded.weight_formats
    }

    /// As [`weight_formats`](Self::weight_formats), of the embedding matrices and of the head only, by
    /// name.
    pub(crate) fn embedding_formats(&self) -> &[&'static str] {
        &self.loaded.embedding_formats
    }

    /// How the numbers of the weights are stored, where that was asked for.
    pub(crate) fn storage(&self) -> Option<Storage> {
        self.loaded.storage
    }

    /// The memory of the weights, in bytes.
    pub fn bytes(&self) -> usize {
        self.loaded.bytes
    }

    /// The instruction set and the threads of the CPU kernels.
    pub fn cpu(&self) -> &Cpu {
        &self.loaded.cpu
    }

    /// As [`forward`](Self::forward), without the head: the hidden states after the last norm, one
    /// row of `[d_model]` for each token whose logits an input asks for, in order. The head makes
    /// logits of them. [`embed`](crate::generate::embed) makes one vector of those of a text.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn hidden_states(&self, inputs: &mut [Input<'_>]) -> Result<Vec<Vec<f32>>> {
        self.run(inputs, |row, wanted, pass| {
            self.network.rows(row, wanted, pass, Output::HiddenStates)
        })
    }

    /// As [`forward`](Self::forward) on a GPU, which finds the most likely token of each row itself: only
    /// the ids are copied.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    #[cfg(feature = "cube")]
    pub(crate) fn most_likely(&self, inputs: &mut [Input<'_>]) -> Result<Vec<MostLikely>> {
        self.run(inputs, |row, wanted, pass| self.network.most_likely(row, wanted, pass))
    }
}
