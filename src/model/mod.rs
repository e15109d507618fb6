//! The model: from `config.json` and weights to logits.
//!
//! Two families of networks stand side by side: [`decoder`] (Llama, Mistral, Qwen) and
//! [`gpt2`]. They share [`attention`] with its [`cache`], [`linear`], [`embedding`], [`norm`]
//! and [`activation`]. The Llama family adds [`rope`] and a gated [`feed_forward`]. Before both
//! comes [`encoder`], which is assembled from Burn's own modules. What a model is made from
//! lies in [`config`], [`weights`] and [`safetensors`]; their numbers lie in an `arena`. How the
//! threads of the processor share the work is in `threads`.

pub mod activation;
mod architecture;
mod arena;
pub mod attention;
pub mod cache;
pub mod config;
pub mod context;
mod convert;
pub mod decoder;
pub mod embedding;
pub mod encoder;
pub mod feed_forward;
pub mod gpt2;
pub mod linear;
pub mod norm;
pub mod rope;
pub mod safetensors;
mod threads;
pub mod weights;

use burn::tensor::{DType, Device, Int, Tensor, TensorData, s};

use crate::error::{Error, Result};
use architecture::Architecture;
pub use cache::KvCache;
pub use config::ModelConfig;
use context::Context;
pub use weights::Weights;

/// A network that is ready to run: its weights on a device, and what they need beside them.
#[derive(Debug)]
pub struct Model {
    config: ModelConfig,
    network: Architecture,
    /// How many numbers the weights are.
    n_params: usize,
    device: Device,
    dtype: DType,
}

/// What a sequence of a batch has that is new, and the cache of what came before.
pub struct NewTokens<'a> {
    /// At least one id.
    pub ids: &'a [u32],
    /// It takes them in.
    pub cache: &'a mut KvCache,
}

impl Model {
    /// Takes the tensors that `config` asks for from `weights`.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape or type.
    pub fn load(config: ModelConfig, weights: &Weights<'_>) -> Result<Self> {
        let network = Architecture::load(weights, &config)?;
        let (device, dtype) = (weights.device().clone(), weights.dtype());
        let n_params = network.num_params();
        Ok(Self { config, network, n_params, device, dtype })
    }

    /// The tensors in `weights` that neither this model took nor one of its family is expected
    /// to leave: a sign that the files say more than `config.json` does.
    pub fn unused(&self, weights: &Weights<'_>) -> Vec<String> {
        let mut names = weights.untaken();
        names.retain(|name| !self.network.can_do_without(name));
        names
    }

    /// The shape of the model.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The type in which it computes.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The memory that the weights take.
    pub fn bytes(&self) -> usize {
        self.n_params * self.dtype.size()
    }

    /// An empty cache for one sequence of up to `capacity` tokens; no more than the context.
    ///
    /// # Errors
    /// More memory than this machine gives.
    pub fn new_cache(&self, capacity: usize) -> Result<KvCache> {
        let capacity = capacity.min(self.config.context_length);
        KvCache::new(&self.config, 1, capacity, &self.device, self.dtype)
    }

    // ANCHOR: forward
    /// The logits of the token that follows `ids`: `[vocab]`.
    ///
    /// With a cache, `ids` are what comes after the tokens in it, and it takes them in;
    /// without one they are the whole sequence.
    ///
    /// # Errors
    /// No ids, an id outside the vocabulary, more ids than the cache or the context holds, a
    /// cache for a network that can't use one.
    pub fn forward(&self, ids: &[u32], cache: Option<&mut KvCache>) -> Result<Vec<f32>> {
        self.on_threads(ids.len(), || {
            let hidden = self.hidden(ids, cache)?;
            let last = hidden.slice(s![.., -1.., ..]); // [1, 1, d_model]
            to_host(self.network.logits(last))
        })
    }
    // ANCHOR_END: forward

    /// The logits after each of `ids`, one row of `[vocab]` for each. The last row is what
    /// [`forward`](Self::forward) returns; the head costs `ids.len()` times as much.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn forward_all(&self, ids: &[u32], cache: Option<&mut KvCache>) -> Result<Vec<Vec<f32>>> {
        let logits = self.on_threads(ids.len(), || {
            let hidden = self.hidden(ids, cache)?;
            to_host(self.network.logits(hidden))
        })?;
        Ok(logits.chunks(self.config.vocab_size).map(<[f32]>::to_vec).collect())
    }

    // ANCHOR: forward_batch
    /// The logits of the token that follows in each of `sequences`: one row of `[vocab]` for
    /// each.
    ///
    /// Their new tokens go through the network side by side, laid end to end in one row, so
    /// that its weights are read once for all of them. Only attention takes each sequence for
    /// itself (Yu et al., Orca, OSDI 2022). There is no padding.
    ///
    /// # Errors
    /// As [`forward`](Self::forward), for any of them; then no cache has changed.
    pub fn forward_batch(&self, sequences: Vec<NewTokens<'_>>) -> Result<Vec<Vec<f32>>> {
        let (mut row, mut last, mut caches) = (Vec::new(), Vec::new(), Vec::new());
        for NewTokens { ids, cache } in sequences {
            self.check_ids(ids)?;
            cache.check_room(ids.len())?;
            row.extend_from_slice(ids);
            last.push(row.len() as i32 - 1);
            caches.push((ids.len(), cache));
        }
        if row.is_empty() {
            return Ok(Vec::new());
        }
        let last = TensorData::new(last.clone(), [last.len()]);
        let last = Tensor::<1, Int>::from_data(last, &self.device);
        let logits = self.on_threads(row.len(), || {
            let hidden = self.run(&row, Context::cached(caches, &self.device))?;
            to_host(self.network.logits(hidden.select(1, last))) // [1, sequences, vocab]
        })?;
        Ok(logits.chunks(self.config.vocab_size).map(<[f32]>::to_vec).collect())
    }
    // ANCHOR_END: forward_batch

    /// Does what takes so many `positions` through the network.
    fn on_threads<T: Send>(&self, positions: usize, work: impl FnOnce() -> T + Send) -> T {
        threads::enter(&self.device, positions * self.n_params, work)
    }

    /// `[1, ids.len(), d_model]`: what stands at each new position before the head.
    fn hidden(&self, ids: &[u32], cache: Option<&mut KvCache>) -> Result<Tensor<3>> {
        self.check_ids(ids)?;
        let context = match cache {
            Some(cache) => {
                cache.check_room(ids.len())?;
                Context::cached(vec![(ids.len(), cache)], &self.device)
            }
            None => {
                self.check_length(ids)?;
                Context::whole(ids.len(), &self.device)
            }
        };
        self.run(ids, context)
    }

    // ANCHOR: run
    /// Runs all layers over one row: `[1, row.len(), d_model]`.
    fn run(&self, row: &[u32], mut context: Context<'_>) -> Result<Tensor<3>> {
        let ids: Vec<i32> = row.iter().map(|&id| id as i32).collect();
        let data = TensorData::new(ids, [1, row.len()]);
        let ids = Tensor::<2, Int>::from_data(data, &self.device);
        let hidden = self.network.hidden(ids, &mut context)?;
        context.advance();
        Ok(hidden)
    }
    // ANCHOR_END: run

    /// Checks that a generation could start from `prompt`.
    ///
    /// # Errors
    /// No ids, an id outside the vocabulary, more ids than the context holds.
    pub fn check_prompt(&self, prompt: &[u32]) -> Result<()> {
        self.check_ids(prompt)?;
        self.check_length(prompt)
    }

    fn check_ids(&self, ids: &[u32]) -> Result<()> {
        let vocab_size = self.config.vocab_size;
        if ids.is_empty() {
            return Err(Error::EmptyPrompt);
        }
        match ids.iter().find(|&&id| id as usize >= vocab_size) {
            Some(&id) => Err(Error::TokenOutOfRange { id, vocab_size }),
            None => Ok(()),
        }
    }

    fn check_length(&self, ids: &[u32]) -> Result<()> {
        let (prompt, context) = (ids.len(), self.config.context_length);
        if prompt > context {
            return Err(Error::PromptTooLong { prompt, context });
        }
        Ok(())
    }
}

/// Waits for the device and copies a result of any shape into host memory, row by row.
fn to_host(tensor: Tensor<3>) -> Result<Vec<f32>> {
    let values = tensor.cast(DType::F32).try_into_vec_as::<f32>();
    values.map_err(|error| Error::Device(error.to_string()))
}
