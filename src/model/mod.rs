//! The model: from `config.json` and weights to logits.
//!
//! Begin with [`decoder`], the Llama family with its many relatives; the other family is [`gpt2`]. Both use
//! [`attention`], [`linear`], [`embedding`], [`norm`] and [`activation`], and the Llama family adds
//! [`rope`], a gated [`feed_forward`] and [`experts`]. A [`pass`] holds the sequences of a forward pass with
//! their KV caches, a [`config`] holds the hyperparameters, and a [`Source`] supplies the weights.
//!
//! All of these compute with Burn's tensors, on any device, and define what a network is. On the CPU, `host`
//! computes the same networks faster, with this crate's kernels on vectors in host memory; `network` decides
//! which. They need the feature `burn`. A [stub](Model::stub) doesn't: it is a network that you bring.

#[cfg(feature = "burn")]
pub mod activation;
#[cfg(feature = "burn")]
mod adapted;
#[cfg(feature = "burn")]
mod architecture;
#[cfg(feature = "burn")]
pub mod attend;
#[cfg(feature = "burn")]
pub mod attention;
#[cfg(feature = "burn")]
mod beside;
pub mod config;
#[cfg(feature = "burn")]
pub mod convolution;
#[cfg(feature = "burn")]
pub mod decoder;
#[cfg(feature = "burn")]
pub mod delta_rule;
#[cfg(feature = "cube")]
mod device_panels;
#[cfg(feature = "burn")]
pub mod embedding;
#[cfg(feature = "burn")]
pub mod experts;
#[cfg(feature = "burn")]
pub mod feed_forward;
#[cfg(feature = "burn")]
pub mod gpt2;
#[cfg(feature = "burn")]
mod host;
mod input;
#[cfg(feature = "burn")]
mod latent;
#[cfg(feature = "burn")]
mod layer_inputs;
#[cfg(feature = "burn")]
pub mod linear;
#[cfg(feature = "burn")]
mod loaded;
mod logits;
mod network;
#[cfg(feature = "burn")]
pub mod norm;
pub mod pass;
#[cfg(feature = "cube")]
mod recorded;
#[cfg(feature = "burn")]
mod residual;
#[cfg(feature = "burn")]
pub mod rope;
#[cfg(feature = "burn")]
mod source;
mod stub;
#[cfg(feature = "burn")]
mod trace;

use crate::adapter::Adapter;
#[cfg(feature = "burn")]
use crate::error::RequestError;
use crate::error::Result;
#[cfg(feature = "burn")]
use crate::kv::MOST_DRAFTED;
use crate::kv::{KvCache, KvPool};
#[cfg(feature = "burn")]
pub(crate) use architecture::to_host;
pub use config::ModelConfig;
pub use input::Input;
#[cfg(feature = "burn")]
use loaded::Loaded;
pub use logits::{Logits, MostLikely};
use network::{Network, Output};
use pass::Pass;
#[cfg(feature = "burn")]
pub use source::{Columns, HeadRows, Role, Source};
use stub::Stub;
#[cfg(feature = "burn")]
pub use trace::{LayerTrace, Trace};

/// A network that is ready to run, token ids in and logits out. Its weights are on a device, or it is a
/// [`stub`](Self::stub) that you bring.
#[derive(Debug)]
pub struct Model {
    config: ModelConfig,
    network: Network,
    kv_pool: KvPool,
    #[cfg(feature = "burn")]
    loaded: Loaded,
}

impl Model {
    /// A model that gets its logits from `network`: the tokens of a sequence up to one whose logits are
    /// wanted, as far as this pass reads them, and how many came before -> `[vocab]`. Its sequences
    /// share `blocks` blocks, which have no memory.
    pub fn stub(
        config: ModelConfig,
        blocks: usize,
        network: impl Fn(&[u32], usize) -> Result<Vec<f32>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            config,
            network: Network::Stub(Stub(Box::new(network))),
            kv_pool: KvPool::counted(blocks),
            #[cfg(feature = "burn")]
            loaded: Loaded::nothing(),
        }
    }

    /// The memory of the model's KV caches.
    pub fn kv_pool(&self) -> &KvPool {
        &self.kv_pool
    }

    /// The hyperparameters of the model.
    pub fn config(&self) -> &ModelConfig {
        &self.config
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

    /// The most draft tokens that a pass can take back, if some layers keep a state instead of keys and values.
    pub(crate) fn most_drafted(&self) -> Option<usize> {
        #[cfg(feature = "burn")]
        return (self.kv_pool.state_blocks() > 0).then_some(MOST_DRAFTED);
        #[cfg(not(feature = "burn"))]
        None
    }

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
    /// support one; or a device or stub that fails. On an error, no cache has changed.
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
            input.adapter.as_ref().map_or(Ok(()), |adapter| self.check_adapter(adapter))?;
            match &mut input.cache {
                Some(cache) => cache.reserve(input.tokens.len())?,
                None => self.config.check_length(input.tokens)?,
            }
        }
        self.enter(|| {
            let mut caches = self.caches_for_whole(inputs)?;
            let _held = self.kv_pool.hold();
            // ANCHOR: forward
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
            // ANCHOR_END: forward
        })
    }

    /// The kernels read keys and values from blocks only, so an input without a cache gets one
    /// for this pass.
    fn caches_for_whole(&self, inputs: &[Input<'_>]) -> Result<Vec<KvCache>> {
        if !self.network.needs_blocks() || !self.kv_pool.is_paged() {
            return Ok(Vec::new());
        }
        let whole = inputs.iter().filter(|input| input.cache.is_none());
        let cache = |input: &Input<'_>| {
            let cache = self.new_cache(input.tokens.len())?;
            let mut cache = cache.with_adapter(input.adapter.as_ref());
            cache.reserve(input.tokens.len())?;
            Ok(cache)
        };
        whole.map(cache).collect()
    }

    /// Checks that an adapter was read for this model.
    ///
    /// # Errors
    /// It was not.
    pub(crate) fn check_adapter(&self, adapter: &Adapter) -> Result<()> {
        #[cfg(feature = "burn")]
        if self.network.sites().is_none_or(|sites| !adapter.fits(sites)) {
            return Err(RequestError::AdapterForeign.into());
        }
        let _ = adapter;
        Ok(())
    }

    /// Checks that a generation could start from `prompt`.
    ///
    /// # Errors
    /// No ids, an id outside the vocabulary, more ids than the context holds.
    pub fn check_prompt(&self, prompt: &[u32]) -> Result<()> {
        self.config.check_prompt(prompt)
    }

    /// Runs `work` with the model's threads for the CPU kernels.
    fn enter<T>(&self, work: impl FnOnce() -> T) -> T {
        #[cfg(feature = "burn")]
        return self.loaded.cpu.enter(work);
        #[cfg(not(feature = "burn"))]
        work()
    }

    /// Calls `work` once with each of `items`, on these threads.
    #[cfg(feature = "text")]
    pub(crate) fn for_each_of<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        #[cfg(feature = "burn")]
        self.loaded.cpu.for_each_of(items, work);
        #[cfg(not(feature = "burn"))]
        items.iter_mut().for_each(work);
    }
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
