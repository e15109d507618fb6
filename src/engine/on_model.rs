//! The model as an engine sees it.

use std::iter::zip;
use std::mem;

use super::{ChunkInput, Forward, RecordedModel};
use crate::error::Result;
use crate::kv::{KvCache, KvMemory, KvPool};
use crate::model::{Input, Model};

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

    fn check_prompt(&self, prompt: &[u32]) -> Result<()> {
        self.check_prompt(prompt)
    }

    // ANCHOR: forward
    fn forward(&self, chunks: &mut [ChunkInput<KvMemory>]) -> Result<Vec<Vec<f32>>> {
        let cache = |chunk: &mut ChunkInput<KvMemory>| {
            KvCache::with_table(self.kv_pool(), mem::take(&mut chunk.table))
        };
        let mut caches: Vec<KvCache> = chunks.iter_mut().map(cache).collect();
        let inputs = zip(&*chunks, &mut caches)
            .map(|(chunk, cache)| Input::after(cache, &chunk.tokens).with_logits(chunk.logits));
        let rows = self.forward(&mut inputs.collect::<Vec<_>>());
        for (chunk, cache) in zip(chunks, caches) {
            chunk.table = cache.into_table();
        }
        rows
    }
    // ANCHOR_END: forward

    fn describe(&self) -> RecordedModel {
        RecordedModel::of(self)
    }
}
