//! One vector for a text: its hidden states, pooled.

use crate::error::{DeviceError, RequestError, Result};
use crate::kv::{BLOCK, KvCache};
use crate::model::{Input, Logits, Model};
use crate::pretrained::Pooling;

/// Tokens per forward pass of [`embed`]: the hidden state of each takes a row of `[d_model]`.
const CHUNK: usize = 256;

/// One vector for a text: the hidden states of its tokens after the last norm, pooled and scaled to
/// length 1, `[d_model]`.
///
/// [`Pretrained::pooling`](crate::pretrained::Pretrained::pooling) is what a model was trained for
/// embeddings with. Of any other, these are the hidden states of a model that was trained to predict
/// the next token, and not to tell texts apart. Vectors of similar texts have a greater dot product than those of others, but
/// all of them point in much the same direction, and a model that was trained for embeddings does
/// better.
///
/// # Errors
/// No ids, an id outside the vocabulary, more ids than the context or the budget of the KV caches
/// holds, hidden states that are not finite, a model that has no KV cache.
pub fn embed(model: &Model, ids: &[u32], pooling: Pooling) -> Result<Vec<f32>> {
    let mut embedder = Embedder::new(model, ids.to_vec(), pooling)?;
    loop {
        if let Some(embedding) = embedder.read(model, CHUNK)? {
            return Ok(embedding);
        }
    }
}

/// [`embed`] in pieces, for a caller who has other work between them.
#[derive(Debug)]
pub struct Embedder {
    ids: Vec<u32>,
    pooling: Pooling,
    cache: KvCache,
    /// The hidden state of the last token that was read, or the sum of all: `[d_model]`.
    pooled: Vec<f64>,
}

impl Embedder {
    /// Checks a text, and reads nothing of it.
    ///
    /// # Errors
    /// As [`embed`].
    pub fn new(model: &Model, ids: Vec<u32>, pooling: Pooling) -> Result<Self> {
        model.check_prompt(&ids)?;
        let pool = model.kv_pool();
        let capacity = pool.most_blocks_of_a_sequence().saturating_mul(BLOCK);
        let tokens = ids.len();
        if tokens > capacity {
            return Err(RequestError::KvPoolTooSmall { tokens, capacity }.into());
        }
        let cache = model.new_cache(tokens)?;
        let pooled = vec![0.0; model.config().d_model];
        Ok(Self { ids, pooling, cache, pooled })
    }

    /// Reads up to `most` further tokens in one forward pass, at least one, and returns the vector
    /// after the last. `model` is the one that [`new`](Self::new) was given.
    ///
    /// # Errors
    /// As [`embed`].
    pub fn read(&mut self, model: &Model, most: usize) -> Result<Option<Vec<f32>>> {
        let begin = self.cache.length();
        let end = begin.saturating_add(most.max(1)).min(self.ids.len());
        let is_last = end == self.ids.len();
        let wanted = match self.pooling {
            Pooling::Mean => Logits::All,
            Pooling::Last if is_last => Logits::Last,
            Pooling::Last => Logits::None,
        };
        let input = Input::after(&mut self.cache, &self.ids[begin..end]).with_logits(wanted);
        for row in model.hidden_states(&mut [input])? {
            for (sum, value) in self.pooled.iter_mut().zip(row) {
                *sum += f64::from(value);
            }
        }
        if is_last {
            self.direction().map(Some)
        } else {
            Ok(None)
        }
    }

    /// The pooled vector, scaled to length 1. (The mean has the direction of the sum.)
    fn direction(&self) -> Result<Vec<f32>> {
        let length = self.pooled.iter().map(|value| value * value).sum::<f64>().sqrt();
        if !length.is_finite() || length == 0.0 {
            return Err(DeviceError::HiddenStates.into());
        }
        Ok(self.pooled.iter().map(|value| (value / length) as f32).collect())
    }
}
