//! The model: from `config.json` and weights to logits.
//!
//! There are two model families: [`decoder`] (Llama and its many relatives) and [`gpt2`]. Both use
//! [`attention`], [`linear`], [`embedding`], [`norm`] and [`activation`]. The Llama family adds
//! [`rope`], a gated [`feed_forward`] and [`experts`]. [`encoder`] is a simpler model, assembled from Burn's own
//! modules. A [`pass`] holds the sequences of a forward pass and their KV caches. A [`config`]
//! holds the hyperparameters, and a [`Source`] supplies the weights.
//!
//! All of these compute with Burn's tensors, on any device. On the CPU, `host` computes the same
//! networks with the kernels of this crate, on vectors in host memory; `network` decides which.

pub mod activation;
pub mod attend;
pub mod attention;
pub mod config;
pub mod decoder;
#[cfg(feature = "cube")]
mod device_panels;
pub mod embedding;
pub mod encoder;
pub mod experts;
pub mod feed_forward;
pub mod gpt2;
mod host;
mod input;
mod latent;
pub mod linear;
mod logits;
mod network;
pub mod norm;
pub mod pass;
mod residual;
pub mod rope;
mod source;
mod trace;

use burn::tensor::{DType, Device};

use crate::burn_threads;
use crate::error::{DeviceError, Result};
use crate::kernels::{Cpu, KvFormat};
use crate::kv::{KvCache, KvPool, KvShape};
use crate::storage::Storage;
pub use config::ModelConfig;
pub use input::Input;
pub use logits::{Logits, MostLikely};
pub(crate) use network::to_host;
use network::{Network, Output};
use pass::Pass;
pub use source::{Columns, Role, Source};
pub use trace::{LayerTrace, Trace};

/// A network that is ready to run, with its weights on a device.
#[derive(Debug)]
pub struct Model {
    config: ModelConfig,
    network: Network,
    /// The memory of the weights, in bytes.
    bytes: usize,
    weight_formats: Vec<&'static str>,
    embedding_formats: Vec<&'static str>,
    storage: Option<Storage>,
    device: Device,
    dtype: DType,
    cpu: Cpu,
    kv_pool: KvPool,
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
        config.tied_head = config.tied_head && network::shares_head(weights, &config)?;
        let network = Network::load(weights, &config)?;
        let (device, dtype) = (weights.device().clone(), weights.dtype());
        let (bytes, weight_formats) = (weights.bytes(), weights.formats());
        let (embedding_formats, storage) = (weights.embedding_formats(), weights.storage());
        let cpu = Cpu::current();
        let budget = KvPool::default_budget(&device);
        let kv_pool = KvPool::new(kv_shape(&config), &device, dtype, budget);
        Ok(Self {
            config,
            network,
            bytes,
            weight_formats,
            embedding_formats,
            storage,
            device,
            dtype,
            cpu,
            kv_pool,
        })
    }

    /// Changes the budget of the model's KV caches, in bytes. The default is half of the memory
    /// that is left after loading.
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
        let shape = kv_shape(&self.config);
        KvPool::with_format(shape, &self.device, self.dtype, format, budget)
    }

    /// The memory of the model's KV caches.
    pub fn kv_pool(&self) -> &KvPool {
        &self.kv_pool
    }

    /// Whether a checkpoint may hold a tensor of this name that the network does not use.
    pub(crate) fn can_do_without(&self, tensor: &str) -> bool {
        self.network.can_do_without(tensor)
    }

    /// The hyperparameters of the model.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Where the weights are.
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// The type of the weights that are not quantized, and of keys and values unless
    /// [`with_kv_format`](Self::with_kv_format) says otherwise. On the CPU all computation is in
    /// f32; on other devices it is in this type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// What the matrices are stored in, by name, such as `int4` and `f32`. The format of the most
    /// weights comes first.
    pub fn weight_formats(&self) -> &[&'static str] {
        &self.weight_formats
    }

    /// As [`weight_formats`](Self::weight_formats), of the embedding matrices and of the head only, by
    /// name.
    pub(crate) fn embedding_formats(&self) -> &[&'static str] {
        &self.embedding_formats
    }

    /// How the numbers of the weights are stored, where that was asked for.
    pub(crate) fn storage(&self) -> Option<Storage> {
        self.storage
    }

    /// The memory of the weights, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The instruction set and the threads of the CPU kernels.
    pub fn cpu(&self) -> &Cpu {
        &self.cpu
    }

    /// An empty KV cache for one sequence of up to `capacity` tokens, or of the context length if
    /// that is less.
    ///
    /// # Errors
    /// On a device without blocks, where the whole capacity is allocated at once: too little memory, or a
    /// budget of which less than that is left.
    pub fn new_cache(&self, capacity: usize) -> Result<KvCache> {
        KvCache::new(&self.kv_pool, capacity.min(self.config.context_length))
    }

    // ANCHOR: forward
    /// Runs the network over the tokens of all `inputs`, and returns the requested logits: one row
    /// of `[vocab]` for each token, in order.
    ///
    /// The tokens of all inputs are concatenated into one row, so that the weights are read once
    /// for all of them. Only attention treats each sequence separately (Yu et al., Orca, OSDI
    /// 2022). There is no padding.
    ///
    /// On the CPU, the bits of a row depend on its own sequence only: not on the other inputs, and
    /// not on how the sequence was split into passes.
    ///
    /// # Errors
    /// In any input: no tokens, an id outside the vocabulary, more tokens than the cache, the
    /// context or the budget of the KV caches holds, a cache for an architecture that does not
    /// support one; or a device that fails. On an error, no cache has changed.
    pub fn forward(&self, inputs: &mut [Input<'_>]) -> Result<Vec<Vec<f32>>> {
        self.run(inputs, |row, wanted, pass| self.network.rows(row, wanted, pass, Output::Logits))
    }

    fn run<T>(
        &self,
        inputs: &mut [Input<'_>],
        compute: impl FnOnce(&[u32], &[usize], &mut Pass<'_>) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        for input in &mut *inputs {
            self.config.check_ids(input.tokens)?;
            match &mut input.cache {
                Some(cache) => cache.reserve(input.tokens.len())?,
                None => self.config.check_length(input.tokens)?,
            }
        }
        self.cpu.enter(|| {
            let mut caches = self.caches_for_whole(inputs)?;
            let _held = self.kv_pool.hold();
            let (row, wanted) = row_of(inputs);
            let mut pass = Pass::default();
            let mut own_caches = caches.iter_mut();
            for Input { tokens, cache, .. } in inputs {
                let cache = cache.as_deref_mut().or_else(|| own_caches.next());
                pass.push(tokens.len(), cache);
            }
            let rows = compute(&row, &wanted, &mut pass)?;
            pass.commit();
            Ok(rows)
        })
    }
    // ANCHOR_END: forward

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

    /// The kernels read keys and values from blocks only, so an input without a cache gets one
    /// for this pass.
    fn caches_for_whole(&self, inputs: &[Input<'_>]) -> Result<Vec<KvCache>> {
        if !self.network.needs_blocks() || !self.kv_pool.is_paged() {
            return Ok(Vec::new());
        }
        let whole = inputs.iter().filter(|input| input.cache.is_none());
        let cache = |input: &Input<'_>| {
            let mut cache = self.new_cache(input.tokens.len())?;
            cache.reserve(input.tokens.len())?;
            Ok(cache)
        };
        whole.map(cache).collect()
    }

    /// Checks that a generation could start from `prompt`.
    ///
    /// # Errors
    /// No ids, an id outside the vocabulary, more ids than the context holds.
    pub fn check_prompt(&self, prompt: &[u32]) -> Result<()> {
        self.config.check_prompt(prompt)
    }

    /// Calls `work` once with each of `items`, on the threads of the CPU kernels.
    pub(crate) fn for_each_of<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        self.cpu.for_each_of(items, work);
    }
}

fn kv_shape(config: &ModelConfig) -> KvShape {
    let &ModelConfig { n_layers, n_kv_heads, head_dim, .. } = config;
    KvShape { n_layers, n_kv_heads, head_dim }
}

// ANCHOR: row_of
/// Concatenates the tokens of all inputs into a row, and returns the columns that need logits.
fn row_of(inputs: &[Input<'_>]) -> (Vec<u32>, Vec<usize>) {
    let (mut row, mut wanted) = (Vec::new(), Vec::new());
    for Input { tokens, logits, .. } in inputs {
        let first = row.len();
        row.extend_from_slice(tokens);
        let end = row.len();
        match logits {
            Logits::None => {}
            Logits::Last => wanted.push(end - 1),
            Logits::All => wanted.extend(first..end),
        }
    }
    (row, wanted)
}
// ANCHOR_END: row_of
