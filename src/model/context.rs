//! What the positions of one forward pass may look at.

use std::ops::Range;

use burn::tensor::{Bool, Device, Tensor, s};

use super::attention::{attend, causal_mask};
use super::cache::KvCache;

/// The sequences of one forward pass. Every part of a network but attention works on each
/// position alone and need not know of it.
pub struct Context<'a> {
    spans: Vec<Span>,
    /// As many as there are spans, or none where nothing is kept.
    caches: Vec<&'a mut KvCache>,
}

/// The new positions of one sequence.
struct Span {
    /// Where they lie in the row of all new positions.
    columns: Range<usize>,
    /// How many positions came before them.
    start: usize,
    /// `[columns, start + columns]`, true where looking is forbidden.
    mask: Option<Tensor<2, Bool>>,
}

impl Span {
    fn new(columns: Range<usize>, start: usize, device: &Device) -> Self {
        let mask = causal_mask(columns.len(), start, device);
        Self { columns, start, mask }
    }
}

impl<'a> Context<'a> {
    /// For `[batch, seq]`: whole sequences, all of one length. Nothing is kept.
    pub fn whole(seq: usize, device: &Device) -> Self {
        Self {
            spans: vec![Span::new(0..seq, 0, device)],
            caches: Vec::new(),
        }
    }

    // ANCHOR: cached
    /// For `[1, seq]`: the new tokens of several sequences, laid end to end in one row. Each
    /// comes with how many they are and with the cache of what came before them, which takes
    /// them in.
    pub fn cached(sequences: Vec<(usize, &'a mut KvCache)>, device: &Device) -> Self {
        let mut context = Self { spans: Vec::new(), caches: Vec::new() };
        let mut end = 0;
        for (new, cache) in sequences {
            context.spans.push(Span::new(end..end + new, cache.length(), device));
            context.caches.push(cache);
            end += new;
        }
        context
    }
    // ANCHOR_END: cached

    /// Whether keys and values are kept for a later pass.
    pub(super) fn keeps(&self) -> bool {
        !self.caches.is_empty()
    }

    // ANCHOR: positions
    /// The position of each column in its own sequence: `[seq]`.
    pub fn positions(&self) -> Vec<usize> {
        let of = |span: &Span| span.start..span.start + span.columns.len();
        self.spans.iter().flat_map(of).collect()
    }
    // ANCHOR_END: positions

    // ANCHOR: attend
    /// Attention, each sequence for itself: appends keys and values to its cache at `layer`,
    /// and lets its queries look at all that this holds. `q` is `[batch, n_heads, seq,
    /// head_dim]`, `k` and `v` are `[batch, n_kv_heads, seq, head_dim]`; returns the shape of
    /// `q`.
    pub(super) fn attend(
        &mut self,
        layer: usize,
        q: Tensor<4>,
        k: Tensor<4>,
        v: Tensor<4>,
    ) -> Tensor<4> {
        let (spans, caches) = (&self.spans, &mut self.caches);
        let alone = spans.len() == 1;
        let mixed = spans.iter().enumerate().map(|(i, span)| {
            let part = |all: &Tensor<4>| match alone {
                true => all.clone(),
                false => all.clone().slice(s![.., .., span.columns.clone(), ..]),
            };
            let (k, v) = match caches.get_mut(i) {
                Some(cache) => cache.layer_mut(layer).append(part(&k), part(&v), span.start),
                None => (part(&k), part(&v)),
            };
            attend(part(&q), k, v, span.mask.as_ref())
        });
        Tensor::cat(mixed.collect(), 2)
    }
    // ANCHOR_END: attend

    /// Counts the new tokens, after every layer has appended them.
    pub(super) fn advance(&mut self) {
        for (span, cache) in self.spans.iter().zip(&mut self.caches) {
            cache.advance(span.columns.len());
        }
    }
}
