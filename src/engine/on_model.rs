//! How an engine computes with a model.

use std::iter::zip;
use std::mem;
use std::sync::Arc;

use crate::adapter::Adapter;
#[cfg(feature = "cube")]
use crate::device::has_cubes;
use crate::error::Result;
use crate::kv::{BlockTable, KvCache, KvMemory};
use crate::model::{Input, Logits, Model, MostLikely};

/// A chunk of a plan with what the network needs for it.
pub(super) struct ChunkInput {
    /// The new tokens.
    pub(super) tokens: Vec<u32>,
    /// The keys and values of the tokens before them, to which theirs are appended. It has the blocks for
    /// them already.
    pub(super) table: BlockTable<KvMemory>,
    /// What changes the network for this sequence.
    pub(super) adapter: Option<Arc<Adapter>>,
    /// Which of their logits are wanted.
    pub(super) logits: Logits,
}

/// The most likely token by each row of the requested logits. None where that costs as much as the logits; then
/// nothing was computed.
#[cfg_attr(not(feature = "cube"), allow(unused_variables))]
pub(super) fn most_likely(
    model: &Model,
    chunks: &mut [ChunkInput],
) -> Option<Result<Vec<MostLikely>>> {
    #[cfg(feature = "cube")]
    if model.device().is_some_and(has_cubes) {
        return Some(with_caches(model, chunks, |inputs| model.most_likely(inputs)));
    }
    None
}

/// Runs `compute` with an input for each chunk, whose KV cache is its block table.
pub(super) fn with_caches<T>(
    model: &Model,
    chunks: &mut [ChunkInput],
    compute: impl FnOnce(&mut [Input<'_>]) -> T,
) -> T {
    let cache = |chunk: &mut ChunkInput| {
        KvCache::with_table(model.kv_pool(), mem::take(&mut chunk.table))
            .with_adapter(chunk.adapter.as_ref())
    };
    let mut caches: Vec<KvCache> = chunks.iter_mut().map(cache).collect();
    let inputs = zip(&*chunks, &mut caches)
        .map(|(chunk, cache)| Input::after(cache, &chunk.tokens).with_logits(chunk.logits));
    let rows = compute(&mut inputs.collect::<Vec<_>>());
    for (chunk, cache) in zip(chunks, caches) {
        chunk.table = cache.into_table();
    }
    rows
}
