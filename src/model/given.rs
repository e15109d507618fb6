//! The model of a build without Burn: a network that the caller brings.
//!
//! The engine, the generation loops and the requests are then the same code as with Burn, and whoever
//! tests or simulates them decides what the logits are.

pub mod config;
mod input;
mod logits;

use crate::error::Result;
use crate::kv::{KvCache, KvPool};
pub use config::ModelConfig;
pub use input::Input;
pub use logits::{Logits, MostLikely};

/// Gives the logits after `tokens`, `[vocab]`, which follow `position` earlier ones.
type Network = dyn Fn(&[u32], usize) -> Result<Vec<f32>> + Send + Sync;

/// A network that the caller brings, and blocks without memory for it.
pub struct Model {
    config: ModelConfig,
    network: Box<Network>,
    kv_pool: KvPool,
}

impl Model {
    /// A model that gets its logits from `network`: the tokens of a sequence up to one whose logits are
    /// wanted, as far as this pass reads them, and how many came before -> `[vocab]`. Its sequences
    /// share `blocks` blocks.
    pub fn new(
        config: ModelConfig,
        blocks: usize,
        network: impl Fn(&[u32], usize) -> Result<Vec<f32>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            config,
            network: Box::new(network),
            kv_pool: KvPool::of_blocks(blocks),
        }
    }

    /// The hyperparameters of the model.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// The blocks of the model's KV caches.
    pub fn kv_pool(&self) -> &KvPool {
        &self.kv_pool
    }

    /// An empty KV cache for one sequence of up to `capacity` tokens, or of the context length if
    /// that is less.
    ///
    /// # Errors
    /// None: its blocks are taken as it grows.
    pub fn new_cache(&self, capacity: usize) -> Result<KvCache> {
        KvCache::new(&self.kv_pool, capacity.min(self.config.context_length))
    }

    /// Runs the network over the tokens of all `inputs`, and returns the requested logits: one row
    /// of `[vocab]` for each token, in order.
    ///
    /// # Errors
    /// No tokens, an id outside the vocabulary, more tokens than the cache, the context or the blocks
    /// hold; an error of the network. No cache has changed then.
    pub fn forward(&self, inputs: &mut [Input<'_>]) -> Result<Vec<Vec<f32>>> {
        let mut rows = Vec::new();
        for Input { tokens, cache, logits } in &mut *inputs {
            self.config.check_ids(tokens)?;
            match cache {
                Some(cache) => cache.reserve(tokens.len())?,
                None => self.config.check_length(tokens)?,
            }
            let position = cache.as_ref().map_or(0, |cache| cache.length());
            let wanted = match logits {
                Logits::None => tokens.len() + 1..=tokens.len(),
                Logits::Last => tokens.len()..=tokens.len(),
                Logits::All => 1..=tokens.len(),
            };
            for end in wanted {
                rows.push((self.network)(&tokens[..end], position)?);
            }
        }
        for Input { tokens, cache, .. } in inputs {
            if let Some(cache) = cache {
                cache.commit(tokens.len());
            }
        }
        Ok(rows)
    }

    /// Checks that a generation could start from `prompt`.
    ///
    /// # Errors
    /// No ids, an id outside the vocabulary, more ids than the context holds.
    pub fn check_prompt(&self, prompt: &[u32]) -> Result<()> {
        self.config.check_prompt(prompt)
    }

    /// Calls `work` once with each of `items`, in this thread.
    pub(crate) fn for_each_of<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        items.iter_mut().for_each(work);
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Model").field("config", &self.config).finish_non_exhaustive()
    }
}
