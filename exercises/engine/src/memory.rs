//! Attention of one text: keys and values that lie side by side.
//!
//! [`Keeps`] is what a story writes with: these caches, or others.

use std::iter;

use crate::broken::{call, fail};
use crate::model::{At, Chunk, Memory, Model, Network, Projected, of_shape};
use crate::parts::{Cache, Heads, Parts, Rows};
use crate::weights::Config;

/// The keys and values of one text, with those of a pass.
pub trait Keeps {
    /// How many positions were read.
    fn length(&self) -> usize;

    /// Reads more tokens, and returns the logits after the last. The first is said to be at `start`.
    fn read(
        &mut self,
        network: &Network<'_>,
        parts: &Parts,
        tokens: &[u32],
        start: usize,
    ) -> Vec<f32>;
}

/// One pass over tokens of one text.
pub fn pass(
    network: &Network<'_>,
    parts: &Parts,
    tokens: &[u32],
    start: usize,
    memory: &mut dyn Memory,
) -> Vec<f32> {
    let chunk = Chunk { tokens, start, wants_logits: true };
    network.forward(parts, &[chunk], memory).into_iter().flatten().flatten().collect()
}

/// What has been read of a text: the keys and values of each layer.
pub struct Caches {
    layers: Vec<Box<dyn Cache>>,
    /// How many positions are kept.
    pub length: usize,
}

impl Caches {
    /// Empty ones, with room for the context.
    pub fn new(model: &Model, parts: &Parts) -> Self {
        let Config { n_kv_heads, context, head_dim, .. } = model.config;
        let cache = || call("cache_append", || (parts.cache)(n_kv_heads, context, head_dim));
        Self {
            layers: model.layers.iter().map(|_| cache()).collect(),
            length: 0,
        }
    }
}

impl Keeps for Caches {
    fn length(&self) -> usize {
        self.length
    }

    fn read(
        &mut self,
        network: &Network<'_>,
        parts: &Parts,
        tokens: &[u32],
        start: usize,
    ) -> Vec<f32> {
        let logits = pass(network, parts, tokens, start, self);
        self.length += tokens.len();
        logits
    }
}

impl Memory for Caches {
    fn length(&self, _: usize) -> usize {
        self.length
    }

    fn attend(&mut self, parts: &Parts, at: At, new: &Projected, hidden: &[Vec<bool>]) -> Heads {
        let cache = self.layers[at.layer].as_mut();
        let (keys, values) = append(cache, &new.keys, &new.values, self.length);
        attention(parts, &new.queries, &keys, &values, hidden)
    }
}

/// Attention of all new positions: `[n_heads][seq][head_dim]`, and so is the result.
pub fn attention(
    parts: &Parts,
    queries: &[Rows],
    keys: &[Rows],
    values: &[Rows],
    hidden: &[Vec<bool>],
) -> Heads {
    let single = hidden.len() == 1;
    let name = match parts.attend_to_cache {
        Some(_) if single => "attend_to_cache",
        _ => "grouped_query_attention",
    };
    let shape = [queries.len(), 1, queries[0][0].len()];
    let mut all: Heads = vec![Vec::new(); queries.len()];
    for (i, hidden) in hidden.iter().enumerate() {
        let queries: Rows = queries.iter().map(|head| head[i].clone()).collect();
        let (keys, values) = (visible(keys, hidden), visible(values, hidden));
        let seen = parts.ask(name, |parts| {
            let attend = parts.attend_to_cache.filter(|_| single);
            attend.unwrap_or(parts.grouped_query_attention)(&queries, &keys, &values)
        });
        let seen = seen.into_iter().map(|head| vec![head]).collect();
        for (all, seen) in iter::zip(&mut all, of_shape(name, seen, shape)) {
            all.extend(seen);
        }
    }
    all
}

/// The keys or values that a position may see.
fn visible(heads: &[Rows], hidden: &[bool]) -> Heads {
    let seen = |head: &Rows| {
        let rows = iter::zip(head, hidden).filter(|(_, hidden)| !**hidden);
        rows.map(|(row, _)| row.clone()).collect()
    };
    heads.iter().map(seen).collect()
}

fn append(cache: &mut dyn Cache, keys: &[Rows], values: &[Rows], cached: usize) -> (Heads, Heads) {
    const NAME: &str = "cache_append";
    let shape = [keys.len(), cached + keys[0].len(), keys[0][0].len()];
    match call(NAME, || cache.append(keys, values)) {
        Ok((keys, values)) => (of_shape(NAME, keys, shape), of_shape(NAME, values, shape)),
        Err(refused) => fail(NAME, format!("refused positions that have room: {refused}")),
    }
}
