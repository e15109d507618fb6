//! The model as an engine sees it.

use std::iter::zip;
use std::mem;

use super::{ChunkInput, Forward, RecordedModel};
use crate::error::Result;
use crate::kv::{KvCache, KvMemory, KvPool};
use crate::model::{Input, Model};
#[cfg(feature = "cube")]
use crate::{device::has_cubes, model::MostLikely};

impl Forward for Model {
    type Memory = KvMemory;

    fn pool(&self) -> &KvPool {
        self.kv_pool()
    }

    fn is_paged(&self) -> bool {
        self.kv_pool().is_paged()
    }

    fn window(&self) -> Option<usize> {
        self.config().window()
    }

    fn most_drafted(&self) -> Option<usize> {
        self.most_drafted()
    }

    fn check_prompt(&self, prompt: &[u32]) -> Result<()> {
        self.check_prompt(prompt)
    }

    fn forward(&self, chunks: &mut [ChunkInput<KvMemory>]) -> Result<Vec<Vec<f32>>> {
        with_caches(self, chunks, |inputs| self.forward(inputs))
    }

    #[cfg(feature = "cube")]
    fn most_likely(&self, chunks: &mut [ChunkInput<KvMemory>]) -> Option<Result<Vec<MostLikely>>> {
        let has_cubes = self.device().is_some_and(has_cubes);
        has_cubes.then(|| with_caches(self, chunks, |inputs| self.most_likely(inputs)))
    }

    fn describe(&self) -> RecordedModel {
        RecordedModel::of(self)
    }
}

/// Runs `compute` with an input for each chunk, whose KV cache is its block table.
fn with_caches<T>(
    model: &Model,
    chunks: &mut [ChunkInput<KvMemory>],
    compute: impl FnOnce(&mut [Input<'_>]) -> T,
) -> T {
    let cache = |chunk: &mut ChunkInput<KvMemory>| {
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
