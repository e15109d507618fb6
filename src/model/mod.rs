//! The model: a Llama-style decoder, from `config.json` and weights to logits.
//!
//! Read it in the order in which data flows: [`decoder`] (the whole), [`norm`], [`attention`]
//! with [`rope`] and [`cache`], [`feed_forward`], all of them made of [`linear`]. What a model
//! is made from lies in [`config`] and [`weights`].

pub mod attention;
pub mod cache;
pub mod config;
pub mod decoder;
pub mod feed_forward;
pub mod linear;
pub mod norm;
pub mod rope;
pub mod weights;

use burn::tensor::{DType, Device, Int, Tensor, TensorData, s};

use crate::error::{Error, Result};
pub use cache::KvCache;
pub use config::ModelConfig;
use decoder::Decoder;
use rope::Rope;
pub use weights::Weights;

/// A decoder that is ready to run: its weights on a device, and what they need beside them.
#[derive(Debug)]
pub struct Model {
    config: ModelConfig,
    decoder: Decoder,
    rope: Rope,
    device: Device,
    dtype: DType,
}

impl Model {
    /// Takes the tensors that `config` asks for from `weights`.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape or type.
    pub fn load(config: ModelConfig, weights: &Weights<'_>) -> Result<Self> {
        let decoder = Decoder::load(weights, &config)?;
        let (device, dtype) = (weights.device().clone(), weights.dtype());
        let rope = Rope::new(&config);
        Ok(Self { config, decoder, rope, device, dtype })
    }

    /// The shape of the model.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The type in which it computes.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// An empty cache for one sequence of up to `capacity` tokens; no more than the context.
    pub fn new_cache(&self, capacity: usize) -> KvCache {
        let capacity = capacity.min(self.config.context_length);
        KvCache::new(&self.config, 1, capacity, &self.device, self.dtype)
    }

    /// The logits of the token that follows `ids`: `[vocab]`.
    ///
    /// With a cache, `ids` are what comes after the tokens in it, and it takes them in;
    /// without one they are the whole sequence.
    ///
    /// # Errors
    /// No ids, an id outside the vocabulary, more ids than the cache or the context holds.
    pub fn forward(&self, ids: &[u32], cache: Option<&mut KvCache>) -> Result<Vec<f32>> {
        let hidden = self.hidden(ids, cache)?;
        let last = hidden.slice(s![.., -1.., ..]); // [1, 1, d_model]
        to_host(self.decoder.logits(last))
    }

    /// The logits after each of `ids`, one row of `[vocab]` for each. The last row is what
    /// [`forward`](Self::forward) returns; the head costs `ids.len()` times as much.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn forward_all(&self, ids: &[u32], cache: Option<&mut KvCache>) -> Result<Vec<Vec<f32>>> {
        let logits = to_host(self.decoder.logits(self.hidden(ids, cache)?))?;
        Ok(logits.chunks(self.config.vocab_size).map(<[f32]>::to_vec).collect())
    }

    /// `[1, ids.len(), d_model]`: what stands at each new position before the head.
    fn hidden(&self, ids: &[u32], cache: Option<&mut KvCache>) -> Result<Tensor<3>> {
        self.check_ids(ids)?;
        match &cache {
            Some(cache) => cache.check_room(ids.len())?,
            None => self.check_length(ids)?,
        }
        let ids: Vec<i32> = ids.iter().map(|&id| id as i32).collect();
        let data = TensorData::new(ids.clone(), [1, ids.len()]);
        let ids = Tensor::<2, Int>::from_data(data, &self.device);
        Ok(self.decoder.hidden(ids, &self.rope, cache))
    }

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
