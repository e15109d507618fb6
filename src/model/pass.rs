//! A forward pass: the sequences that take part, and their KV caches.

#[cfg(feature = "burn")]
use std::collections::BTreeMap;
use std::ops::Range;

#[cfg(feature = "cube")]
use burn::tensor::DType;
#[cfg(feature = "burn")]
use burn::tensor::{Tensor, s};

#[cfg(feature = "burn")]
use super::adapted::Rows;
#[cfg(feature = "burn")]
use super::attend::{attend, window_mask};
#[cfg(feature = "cube")]
use crate::cube::{
    self,
    attention::{Plan, PlanData},
    blocks::SlotShape,
};
#[cfg(feature = "burn")]
use crate::kernels::{Queries, Scoring, recorded};
use crate::kv::KvCache;
#[cfg(feature = "burn")]
use crate::kv::StateShape;

/// The sequences of one forward pass, with their new tokens concatenated into one row. Only
/// attention needs the boundaries between sequences: all other layers treat each position
/// independently.
#[derive(Default)]
pub struct Pass<'a> {
    segments: Vec<Segment<'a>>,
    #[cfg(feature = "burn")]
    rows: Rows,
    /// The queries and keys of each layer that has some, where somebody wants to look at them.
    #[cfg(feature = "burn")]
    seen: Option<Vec<Option<[Tensor<4>; 2]>>>,
    /// Which positions attend to which blocks, on a GPU: made for the first layer whose heads have these shapes.
    #[cfg(feature = "cube")]
    plans: Vec<(SlotShape, Plan)>,
    /// The keys and values of layers that later ones read too, by the number of the layer.
    #[cfg(feature = "burn")]
    kept: BTreeMap<usize, Kept>,
}

/// The keys and values of a layer for the new tokens.
#[cfg(feature = "burn")]
enum Kept {
    /// `[seq, n_kv_heads * head_dim]` each.
    Numbers([Vec<f32>; 2]),
    /// `[batch, seq, n_kv_heads, head_dim]` each.
    Tensors(Box<[Tensor<4>; 2]>),
}

/// The new tokens of one sequence.
struct Segment<'a> {
    /// The columns of these tokens in the row.
    columns: Range<usize>,
    /// The position of the first of these tokens in its sequence.
    start: usize,
    /// The KV cache of the earlier tokens, to append to. None for a whole sequence without a cache.
    cache: Option<&'a mut KvCache>,
}

impl<'a> Pass<'a> {
    /// Whole sequences of one length, `[batch, seq]`, without KV caches.
    pub fn whole(seq: usize) -> Self {
        let mut pass = Self::default();
        pass.push(seq, None);
        pass
    }

    // ANCHOR: push
    /// Adds a sequence of `new` tokens, for which `cache` must have room.
    pub fn push(&mut self, new: usize, cache: Option<&'a mut KvCache>) {
        let first = self.segments.last().map_or(0, |segment| segment.columns.end);
        let start = cache.as_ref().map_or(0, |cache| cache.length());
        #[cfg(feature = "burn")]
        self.rows.push(new, cache.as_ref().and_then(|cache| cache.adapter()));
        self.segments.push(Segment { columns: first..first + new, start, cache });
    }
    // ANCHOR_END: push

    // ANCHOR: positions
    /// The position of each column in its own sequence: `[seq]`.
    pub fn positions(&self) -> Vec<usize> {
        let of = |segment: &Segment<'_>| segment.start..segment.start + segment.columns.len();
        self.segments.iter().flat_map(of).collect()
    }
    // ANCHOR_END: positions

    /// The column where the sequence of this one begins, and the position of its token there.
    pub(super) fn sequence_of(&self, column: usize) -> (usize, usize) {
        let at = self.segments.partition_point(|segment| segment.columns.end <= column);
        let Segment { columns, start, .. } = &self.segments[at];
        (columns.start, *start)
    }

    /// Commits the new tokens to the KV caches, after every layer has appended them.
    pub(super) fn commit(self) {
        for Segment { columns, cache, .. } in self.segments {
            if let Some(cache) = cache {
                cache.commit(columns.len());
            }
        }
    }
}

#[cfg(feature = "burn")]
impl Pass<'_> {
    /// The number of new tokens, of all sequences.
    pub(super) fn seq(&self) -> usize {
        self.segments.last().map_or(0, |segment| segment.columns.end)
    }

    /// These tokens as rows, with their adapters.
    pub(super) fn rows(&self) -> Rows {
        self.rows.clone()
    }

    /// Keeps the queries, `[batch, seq, n_heads, head_dim]`, and the keys,
    /// `[batch, seq, n_kv_heads, head_dim]`, of each layer.
    pub(super) fn keep_seen(&mut self) {
        self.seen = Some(Vec::new());
    }

    /// What was kept since [`keep_seen`](Self::keep_seen), by layers.
    pub(super) fn take_seen(&mut self) -> Vec<Option<[Tensor<4>; 2]>> {
        self.seen.take().unwrap_or_default()
    }

    /// Keeps the keys and values of a layer that a later one reads too.
    pub(super) fn keep(&mut self, layer: usize, kv: [&Tensor<4>; 2]) {
        self.kept.insert(layer, Kept::Tensors(Box::new(kv.map(Tensor::clone))));
    }

    /// What was [kept](Self::keep) of this layer.
    ///
    /// # Panics
    /// Where nothing was.
    pub(super) fn kept(&self, layer: usize) -> [Tensor<4>; 2] {
        match self.kept.get(&layer) {
            Some(Kept::Tensors(kv)) => kv.as_ref().clone(),
            _ => panic!("a layer keeps its keys and values before another reads them"),
        }
    }

    /// As [`keep`](Self::keep), of numbers.
    pub(super) fn keep_numbers(&mut self, layer: usize, kv: [&[f32]; 2]) {
        self.kept.insert(layer, Kept::Numbers(kv.map(<[f32]>::to_vec)));
    }

    /// As [`kept`](Self::kept), of numbers.
    pub(super) fn kept_numbers(&self, layer: usize, kv: [&mut Vec<f32>; 2]) {
        if let Some(Kept::Numbers(kept)) = self.kept.get(&layer) {
            kv.into_iter().zip(kept).for_each(|(to, from)| to.clone_from(from));
        }
    }

    /// Attention within each sequence: appends keys and values to its KV cache at `layer`; its
    /// queries then attend to all that the cache holds. `q` is `[batch, seq, n_heads, head_dim]`,
    /// `k` and `v` are `[batch, seq, n_kv_heads, head_dim]`; returns the shape of `q`. `sinks` are `[n_heads]`,
    /// where heads have them.
    pub(super) fn attend(
        &mut self,
        layer: usize,
        qkv: [Tensor<4>; 3],
        scoring: Scoring<'_>,
        sinks: Option<Tensor<1>>,
    ) -> Tensor<4> {
        if let Some(seen) = &mut self.seen {
            let [q, k, _] = &qkv;
            seen.push(Some([q.clone(), k.clone()]));
        }
        #[cfg(feature = "cube")]
        if self.has_slots() {
            return self.attend_in_slots(layer, qkv, scoring, sinks);
        }
        self.attend_in_tensors(layer, qkv, scoring, sinks)
    }

    /// As [`attend`](Self::attend), with Burn's operations.
    fn attend_in_tensors(
        &mut self,
        layer: usize,
        qkv: [Tensor<4>; 3],
        scoring: Scoring<'_>,
        sinks: Option<Tensor<1>>,
    ) -> Tensor<4> {
        let device = qkv[0].device();
        let [q, k, v] = qkv.map(|x| x.swap_dims(1, 2)); // [batch, heads, seq, head_dim]
        let q = scaled(q, scoring.scale);
        let alone = self.segments.len() == 1;
        // ANCHOR: attend
        let mixed = self.segments.iter_mut().map(|Segment { columns, start, cache }| {
            let part = |all: &Tensor<4>| {
                if alone {
                    all.clone()
                } else {
                    all.clone().slice(s![.., .., columns.clone(), ..])
                }
            };
            let (k, v) = match cache.as_mut().and_then(|cache| cache.layers_mut()) {
                Some(layers) => layers.layer_mut(layer).append(part(&k), part(&v), *start),
                None => (part(&k), part(&v)),
            };
            let mask = window_mask(columns.len(), *start, scoring.window, &device);
            attend(part(&q), k, v, mask.as_ref(), scoring.softcap, sinks.as_ref())
        });
        Tensor::cat(mixed.collect(), 2).swap_dims(1, 2)
        // ANCHOR_END: attend
    }

    /// Whether the keys and values of all sequences are in slots of a GPU's memory.
    #[cfg(feature = "cube")]
    fn has_slots(&self) -> bool {
        let mut caches = self.segments.iter().map(|segment| segment.cache.as_deref());
        caches.all(|cache| cache.is_some_and(|cache| cache.slab().is_some()))
    }

    /// As [`attend`](Self::attend), with the kernels for all sequences together. There is one row of
    /// positions, and every sequence has a KV cache.
    #[cfg(feature = "cube")]
    fn attend_in_slots(
        &mut self,
        layer: usize,
        qkv: [Tensor<4>; 3],
        scoring: Scoring<'_>,
        sinks: Option<Tensor<1>>,
    ) -> Tensor<4> {
        let [[_, seq, n_heads, head_dim], [_, _, n_kv_heads, _], _] =
            qkv.each_ref().map(Tensor::dims);
        let device = qkv[0].device();
        let [q, k, v] = qkv.map(|x| x.reshape([seq as i32, -1]));
        let Some(slab) = self.segments.first().and_then(|segment| segment.cache.as_ref()?.slab())
        else {
            return q.reshape([1, seq, n_heads, head_dim]); // no sequences, no rows
        };
        let (slots, shape) = (slab.layer(layer), slab.shape(layer));
        let known = self.plans.iter().position(|(of, _)| *of == shape);
        let at = known.unwrap_or_else(|| {
            let on_tensor_cores =
                cube::attention::on_tensor_cores(&device, q.dtype(), slots.dtype(), shape);
            let plan = self.plan(n_heads / n_kv_heads, shape, on_tensor_cores);
            let plan = Plan::upload(plan, &device);
            self.plans.push((shape, plan));
            self.plans.len() - 1
        });
        let (_, plan) = &self.plans[at];
        cube::blocks::append(&slots, k, v, plan.places(), shape);
        let mixed = cube::attention::attend(q, &slots, plan, shape, scoring, sinks);
        mixed.reshape([1, seq, n_heads, head_dim])
    }

    /// Which positions attend to which slots of this shape, whose heads are each for `group` query heads.
    #[cfg(feature = "cube")]
    fn plan(&self, group: usize, shape: SlotShape, on_tensor_cores: bool) -> PlanData {
        let rows = self.segments.iter().filter_map(|segment| {
            let cache = segment.cache.as_deref()?;
            Some(cube::attention::Rows {
                rows: segment.columns.clone(),
                start: segment.start,
                slots: cache.slots(),
                first_block: cache.first_block(),
            })
        });
        PlanData::new(&rows.collect::<Vec<_>>(), group, shape, on_tensor_cores)
    }

    /// The plans of all layers of a model with so many query heads, whose numbers have this type, and how many slots
    /// there are, where the keys and values of all sequences are in slots.
    #[cfg(feature = "cube")]
    pub(super) fn plans(
        &self,
        n_heads: usize,
        queries: DType,
    ) -> Option<(Vec<(SlotShape, PlanData)>, usize)> {
        let slab = self.has_slots().then(|| self.segments.first()?.cache.as_ref()?.slab())??;
        let plan = |shape: SlotShape| {
            let (device, stored) = slab.stored();
            let on_tensor_cores = cube::attention::on_tensor_cores(device, queries, stored, shape);
            (shape, self.plan(n_heads / shape.n_kv_heads, shape, on_tensor_cores))
        };
        Some((slab.kinds().into_iter().map(plan).collect(), slab.slots()))
    }

    /// Takes these plans and no others.
    #[cfg(feature = "cube")]
    pub(super) fn follow(&mut self, plans: Vec<(SlotShape, Plan)>) {
        self.plans = plans;
    }

    /// As [`attend`](Self::attend), with the kernel for all sequences together: `q` is
    /// `[seq, n_heads * head_dim]`, `k` and `v` are `[seq, n_kv_heads * head_dim]`; returns the shape
    /// of `q`. Every sequence has a KV cache.
    pub(super) fn attend_in_blocks(
        &mut self,
        layer: usize,
        q: &[f32],
        k: &[f32],
        v: &[f32],
        scoring: Scoring<'_>,
    ) -> Vec<f32> {
        let seq = self.seq();
        let width = k.len() / seq;
        let mut layout = None;
        for Segment { columns, start, cache } in &mut self.segments {
            let rows = columns.start * width..columns.end * width;
            if let Some(cache) = cache {
                cache.append(layer, *start, &k[rows.clone()], &v[rows]);
                layout = cache.layer_layout(layer);
            }
        }
        let Some(layout) = layout else {
            return q.to_vec(); // no sequences, no rows
        };
        let queries = self.segments.iter().filter_map(|segment| {
            let cache = segment.cache.as_deref()?;
            Some(Queries {
                blocks: cache.panels().collect(),
                first_block: cache.first_block(),
                start: segment.start,
                rows: segment.columns.clone(),
            })
        });
        let queries: Vec<_> = queries.collect();
        let n_heads = q.len() / (seq * layout.head_dim);
        recorded::attention(q, n_heads, layout, scoring, &queries)
    }
}

#[cfg(feature = "burn")]
impl Pass<'_> {
    /// What `update` makes of `rows`, `[batch, seq, row]`, in a layer whose sequences have a state of `shape` instead of
    /// keys and values: for each sequence it gets the state, which it changes, and the rows. Returns the rows that
    /// it returns.
    pub(super) fn advance(
        &mut self,
        layer: usize,
        shape: StateShape,
        rows: &[f32],
        mut update: impl FnMut(&mut [f32], &[f32]) -> Vec<f32>,
    ) -> Vec<f32> {
        if let Some(seen) = &mut self.seen {
            seen.push(None);
        }
        let mut all = Vec::new();
        let seq = self.seq();
        for rows in rows.chunks(seq * shape.row) {
            for Segment { columns, start, cache } in &mut self.segments {
                let rows = &rows[columns.start * shape.row..columns.end * shape.row];
                all.extend(match cache {
                    Some(cache) => {
                        cache.states_mut().advance(layer, shape, (*start, rows), &mut update)
                    }
                    None => update(&mut vec![0.0; shape.state], rows),
                });
            }
        }
        all
    }
}

/// Queries, `[batch, heads, seq, head_dim]`, such that scores divided by `sqrt(head_dim)` are those
/// that are multiplied by `scale`.
#[cfg(feature = "burn")]
fn scaled(q: Tensor<4>, scale: f32) -> Tensor<4> {
    let [_, _, _, head_dim] = q.dims();
    if scale == Scoring::new(head_dim).scale {
        return q;
    }
    q * scale * (head_dim as f32).sqrt()
}
