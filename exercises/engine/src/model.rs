//! The model: ids to logits, in plain loops around the parts.

use std::iter;

use crate::broken::{call, fail};
use crate::parts::{Cache, Heads, Parts, Rows};
use crate::weights::Config;

/// A Llama with a tied head.
#[derive(Debug, Clone)]
pub struct Model {
    pub config: Config,
    /// `[vocab][d_model]`
    pub embedding: Rows,
    pub layers: Vec<Layer>,
    /// `[d_model]`
    pub norm: Vec<f32>,
}

/// The weights of a block: norms, `[d_model]`, and matrices, `[n_out][n_in]`.
#[derive(Debug, Clone)]
pub struct Layer {
    pub attention_norm: Vec<f32>,
    pub queries: Rows,
    pub keys: Rows,
    pub values: Rows,
    pub output: Rows,
    pub feed_forward_norm: Vec<f32>,
    pub gate: Rows,
    pub up: Rows,
    pub down: Rows,
}

/// What has been read of a text: the keys and values of each layer.
pub struct Caches {
    layers: Vec<Box<dyn Cache>>,
    /// How many positions are kept.
    pub length: usize,
}

impl Model {
    /// Empty caches with room for the context.
    pub fn caches(&self, parts: &Parts) -> Caches {
        let Config { n_kv_heads, context, head_dim, .. } = self.config;
        let cache = || call("cache_append", || (parts.cache)(n_kv_heads, context, head_dim));
        Caches {
            layers: self.layers.iter().map(|_| cache()).collect(),
            length: 0,
        }
    }

    // ANCHOR: forward
    /// One pass: reads `tokens`, of which the first stands at the position `start`, and returns the
    /// logits after the last, `[vocab]`.
    pub fn forward(
        &self,
        parts: &Parts,
        tokens: &[u32],
        start: usize,
        caches: &mut Caches,
    ) -> Vec<f32> {
        let mut x: Rows = tokens.iter().map(|&id| self.embedding[id as usize].clone()).collect();
        let hidden = self.hidden(parts, tokens.len(), caches.length);
        for (layer, cache) in self.layers.iter().zip(&mut caches.layers) {
            let normed = self.normed(parts, &x, &layer.attention_norm);
            let heads = |weights| self.split(parts, &product(weights, &normed));
            let queries = self.turned(parts, heads(&layer.queries), start);
            let keys = self.turned(parts, heads(&layer.keys), start);
            let values = heads(&layer.values);
            let (keys, values) = append(cache.as_mut(), &keys, &values, caches.length);
            let seen = self.attention(parts, &queries, &keys, &values, &hidden);
            add(&mut x, &product(&layer.output, &self.merged(parts, &seen)));

            let normed = self.normed(parts, &x, &layer.feed_forward_norm);
            let fed = normed.iter().map(|x| {
                let y = parts
                    .ask("swiglu", |parts| (parts.swiglu)(x, &layer.gate, &layer.up, &layer.down));
                of_length("swiglu", y, x.len())
            });
            add(&mut x, &fed.collect::<Rows>());
        }
        caches.length += tokens.len();
        // The head is the embedding: a logit is the product with the row of its token.
        let logits = product(&self.embedding, &self.normed(parts, &x, &self.norm)).concat();
        let vocab = self.embedding.len();
        match parts.ask("last_row", |parts| (parts.last_row)(&logits, vocab)) {
            Some(row) => of_length("last_row", row.to_vec(), vocab),
            None => fail("last_row", "returned None, but there are logits"),
        }
    }
    // ANCHOR_END: forward

    fn normed(&self, parts: &Parts, x: &[Vec<f32>], weight: &[f32]) -> Rows {
        let norm = |x: &Vec<f32>| {
            let y = parts.ask("rms_norm", |parts| (parts.rms_norm)(x, weight, self.config.eps));
            of_length("rms_norm", y, x.len())
        };
        x.iter().map(norm).collect()
    }

    /// `[seq][heads * head_dim]` -> `[heads][seq][head_dim]`
    fn split(&self, parts: &Parts, rows: &[Vec<f32>]) -> Heads {
        let head_dim = self.config.head_dim;
        let heads = parts.ask("split_heads", |parts| (parts.split_heads)(rows, head_dim));
        let shape = [rows[0].len() / head_dim, rows.len(), head_dim];
        of_shape("split_heads", heads, shape)
    }

    /// The way back.
    fn merged(&self, parts: &Parts, heads: &[Rows]) -> Rows {
        let rows = parts.ask("split_heads", |parts| (parts.merge_heads)(heads));
        let width = heads.len() * self.config.head_dim;
        if rows.len() != heads[0].len() || rows.iter().any(|row| row.len() != width) {
            fail("split_heads", "put heads together to another shape than they had");
        }
        rows
    }

    /// Queries or keys, each as its position demands.
    fn turned(&self, parts: &Parts, heads: Heads, start: usize) -> Heads {
        let theta = self.config.rope.theta;
        let turn = |(i, x): (usize, &Vec<f32>)| {
            let turned = parts.ask("rope", |parts| (parts.rope)(x, start + i, theta));
            of_length("rope", turned, x.len())
        };
        heads.iter().map(|head| head.iter().enumerate().map(turn).collect()).collect()
    }

    /// What each of `seq` new positions must not look at, `[seq][cached + seq]`.
    fn hidden(&self, parts: &Parts, seq: usize, cached: usize) -> Vec<Vec<bool>> {
        // Ember sees the whole text: no window.
        let hidden = parts.ask("causal_mask", |parts| (parts.causal_mask)(seq, cached, usize::MAX));
        if hidden.len() != seq || hidden.iter().any(|row| row.len() != cached + seq) {
            fail(
                "causal_mask",
                format!("made no mask of {seq} rows and {} columns", cached + seq),
            );
        }
        if hidden.iter().any(|row| row.iter().all(|&hidden| hidden)) {
            fail("causal_mask", "hides everything from a token");
        }
        hidden
    }

    /// Attention of all new positions: `[n_heads][seq][head_dim]`, and so is the result.
    fn attention(
        &self,
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
        let shape = [queries.len(), 1, self.config.head_dim];
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

/// Each row of `x` times the matrix: `[seq][n_in]` -> `[seq][n_out]`.
fn product(weights: &Rows, x: &[Vec<f32>]) -> Rows {
    x.iter().map(|x| weights.iter().map(|row| dot(row, x)).collect()).collect()
}

/// In eight sums side by side, which the compiler makes one instruction of.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in iter::zip(a, b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = iter::zip(a_rest, b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

fn add(x: &mut Rows, more: &[Vec<f32>]) {
    for (x, more) in iter::zip(x.iter_mut().flatten(), more.iter().flatten()) {
        *x += more;
    }
}

/// As many numbers as there must be, all finite: what is not would spread through all that follows.
pub fn of_length(part: &'static str, numbers: Vec<f32>, length: usize) -> Vec<f32> {
    if numbers.len() != length {
        fail(part, format!("returned {} numbers instead of {length}", numbers.len()));
    }
    if let Some(odd) = numbers.iter().find(|number| !number.is_finite()) {
        fail(part, format!("returned a number that is {odd}"));
    }
    numbers
}

fn of_shape(part: &'static str, heads: Heads, [n, seq, width]: [usize; 3]) -> Heads {
    let fits = |head: &Rows| head.len() == seq && head.iter().all(|row| row.len() == width);
    if heads.len() != n || !heads.iter().all(fits) {
        fail(
            part,
            format!("returned another shape than {n} heads of {seq} positions of {width}"),
        );
    }
    if !heads.iter().flatten().flatten().all(|number| number.is_finite()) {
        fail(part, "returned numbers that are not finite");
    }
    heads
}
