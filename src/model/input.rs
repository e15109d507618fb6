//! What a forward pass reads.

use std::sync::Arc;

use super::Logits;
use crate::adapter::Adapter;
use crate::kv::KvCache;

/// One sequence's part in a forward pass: its new tokens and its KV cache.
pub struct Input<'a> {
    /// The ids of the new tokens, at least one.
    pub(super) tokens: &'a [u32],
    /// The KV cache of the earlier tokens, to which the new ones are appended. Without a cache,
    /// `tokens` is the whole sequence.
    pub(super) cache: Option<&'a mut KvCache>,
    pub(super) logits: Logits,
    pub(super) adapter: Option<Arc<Adapter>>,
}

impl<'a> Input<'a> {
    /// A whole sequence without a KV cache, with logits for its last token.
    pub fn whole(tokens: &'a [u32]) -> Self {
        Self { tokens, cache: None, logits: Logits::Last, adapter: None }
    }

    /// Tokens that follow those in `cache`, with logits for the last of them.
    pub fn after(cache: &'a mut KvCache, tokens: &'a [u32]) -> Self {
        let adapter = cache.adapter().cloned();
        Self { tokens, cache: Some(cache), logits: Logits::Last, adapter }
    }

    /// Computes a whole sequence with an adapter. One that follows a cache has [that of the
    /// cache](KvCache::with_adapter).
    pub fn with_adapter(mut self, adapter: Option<&Arc<Adapter>>) -> Self {
        if self.cache.is_none() {
            self.adapter = adapter.cloned();
        }
        self
    }

    /// Changes which tokens to compute logits for.
    pub fn with_logits(mut self, logits: Logits) -> Self {
        self.logits = logits;
        self
    }
}
