//! Attention of some queries to the positions of a span: scores, their softmax, and sums of values.

use std::array;
use std::ops::Range;

use super::means::Means;
use super::{Heads, Task};
use crate::kernels::block::{BLOCK, Block, VALUE_LANES};
use crate::kernels::elementwise::sum_lanes;
use crate::kernels::exp::{exp, tanh};
use crate::kernels::microkernel::{LANES, accumulate_rows, product};
use crate::kernels::simd::{Isa, RowKernel};

/// Positions in a span, the tile of the KV cache whose scores are held at once. Span boundaries are
/// multiples of this in every sequence, so it does not matter which thread computes which span, or
/// when.
pub(super) const SPAN: usize = 8 * BLOCK;

/// Computes the weighted sums of one task over some spans.
pub(super) struct Attend<'a> {
    pub(super) heads: &'a Heads<'a>,
    pub(super) task: &'a Task<'a>,
    pub(super) spans: Range<usize>,
}

impl RowKernel for Attend<'_> {
    type Output = Means;
    const EVERY: bool = false;

    #[inline(always)]
    fn run<I: Isa, const M: usize>(self) -> Means {
        self.queries::<I, M>()
    }
}

impl Attend<'_> {
    #[inline(always)]
    fn queries<I: Isa, const M: usize>(self) -> Means {
        let q = self.packed::<M>();
        let Self { spans, .. } = &self;
        let mut means = self.span::<I, M>(&q, spans.start);
        for span in spans.start + 1..spans.end {
            means.merge(&self.span::<I, M>(&q, span));
        }
        means
    }

    /// Scales the queries and packs them for the microkernel: `[head_dim][M]`.
    #[inline(always)]
    fn packed<const M: usize>(&self) -> Vec<[f32; M]> {
        let (head_dim, scale) = (self.heads.layer.head_dim, self.heads.scoring.scale);
        let mut packed = vec![[0.0; M]; head_dim];
        for query in 0..M {
            let q = &self.heads.q[self.heads.range(self.task, query)];
            for (packed, q) in packed.iter_mut().zip(q) {
                packed[query] = q * scale;
            }
        }
        packed
    }

    #[inline(always)]
    fn span<I: Isa, const M: usize>(&self, q: &[[f32; M]], span: usize) -> Means {
        // ANCHOR: tiles
        // The positions of the span that each query attends to. Neither their first nor their last
        // lies before that of an earlier query.
        let start = span * SPAN;
        let visible: [Range<usize>; M] = array::from_fn(|query| {
            let positions = self.heads.positions(self.task, query);
            let [first, end] = [positions.start, positions.end];
            first.saturating_sub(start).min(SPAN)..end.saturating_sub(start).min(SPAN)
        });
        let tiles = visible[0].start / BLOCK..visible[M - 1].end.div_ceil(BLOCK);
        // ANCHOR_END: tiles
        let mut scores = [[0.0; SPAN]; M];
        let rows = self.scores::<I, M>(q, start, tiles.clone(), &visible, &mut scores);
        let sums = self.sums_of_values::<I, M>(start, tiles, &visible, &scores);
        Means { rows, sums }
    }

    /// The block of the span from position `start` on, by its number in the span.
    #[inline(always)]
    fn block(&self, start: usize, tile: usize) -> &Block {
        let sequence = self.task.sequence;
        sequence.blocks[start / BLOCK + tile - sequence.first_block]
    }

    /// Replaces `scores` by softmax weights relative to the maximum of each query. Returns the maxima
    /// and the sums of the weights.
    #[inline(always)]
    fn scores<I: Isa, const M: usize>(
        &self,
        q: &[[f32; M]],
        start: usize,
        tiles: Range<usize>,
        visible: &[Range<usize>; M],
        scores: &mut [[f32; SPAN]; M],
    ) -> Vec<(f32, f32)> {
        let Heads { layer, scoring, .. } = *self.heads;
        // The keys are panels, the queries are rows.
        let mut room = Vec::new();
        for tile in tiles.clone() {
            let keys = self.block(start, tile).keys::<I>(layer, self.task.head, &mut room);
            let sums = product::<I, M>(keys, q);
            for (scores, sums) in scores.iter_mut().zip(&sums) {
                scores[tile * BLOCK..(tile + 1) * BLOCK].copy_from_slice(sums);
            }
        }
        // `exp` of the scores relative to the maximum.
        let mut rows = vec![(f32::NEG_INFINITY, 0.0); M];
        for ((scores, row), visible) in scores.iter_mut().zip(&mut rows).zip(visible) {
            if !visible.is_empty() {
                if let Some(cap) = scoring.softcap {
                    scores[visible.clone()].iter_mut().for_each(|score| *score = soft(*score, cap));
                }
                scores[tiles.start * BLOCK..visible.start].fill(f32::NEG_INFINITY);
                scores[visible.end..tiles.end * BLOCK].fill(f32::NEG_INFINITY);
                *row = weigh(&mut scores[tiles.start * BLOCK..tiles.end * BLOCK]);
            }
        }
        rows
    }

    /// The sums of values, times the weights in `scores`: the values are panels, the weights are rows.
    #[inline(always)]
    fn sums_of_values<I: Isa, const M: usize>(
        &self,
        start: usize,
        tiles: Range<usize>,
        visible: &[Range<usize>; M],
        scores: &[[f32; SPAN]; M],
    ) -> Vec<f32> {
        let Heads { layer, .. } = *self.heads;
        let width = layer.value_width();
        let mut sums = vec![0.0; M * width];
        let mut room = Vec::new();
        // All queries attend to these positions. Each adds those before and after them separately. A
        // weight of zero would not mask a value: the value may be infinite.
        let first = visible[M - 1].start;
        let shared = first..visible[0].end.max(first);
        for panel in 0..width / VALUE_LANES {
            let mut acc = [[0.0; VALUE_LANES]; M];
            for tile in tiles.clone() {
                let from = tile * BLOCK;
                let values =
                    self.block(start, tile).values::<I>(layer, self.task.head, panel, &mut room);
                let within = |positions: Range<usize>| {
                    let clamp = |position: usize| position.clamp(from, from + BLOCK) - from;
                    clamp(positions.start)..clamp(positions.end)
                };
                for query in 0..M - 1 {
                    let before = within(visible[query].start..shared.start.min(visible[query].end));
                    accumulate_row::<I>(&mut acc[query], values, before, &scores[query], from);
                }
                let all = within(shared.clone());
                if !all.is_empty() {
                    let start = from + all.start;
                    accumulate_rows::<I, M, SPAN>(&mut acc, &values[all], scores, start);
                }
                for query in 1..M {
                    let after = within(shared.end.max(visible[query].start)..visible[query].end);
                    accumulate_row::<I>(&mut acc[query], values, after, &scores[query], from);
                }
            }
            for (query, acc) in acc.iter().enumerate() {
                let start = query * width + panel * VALUE_LANES;
                sums[start..start + VALUE_LANES].copy_from_slice(acc);
            }
        }
        sums
    }
}

/// Adds the values at `positions` of a tile that begins at `from` to the sum of one query.
#[inline(always)]
fn accumulate_row<I: Isa>(
    acc: &mut [f32; VALUE_LANES],
    values: &[[f32; VALUE_LANES]],
    positions: Range<usize>,
    scores: &[f32; SPAN],
    from: usize,
) {
    if !positions.is_empty() {
        let start = from + positions.start;
        let (acc, scores) = (array::from_mut(acc), array::from_ref(scores));
        accumulate_rows::<I, 1, SPAN>(acc, &values[positions], scores, start);
    }
}

/// A score bounded by a soft cap.
#[inline(always)]
fn soft(score: f32, cap: f32) -> f32 {
    cap * tanh(score / cap)
}

/// Replaces scores, whole registers of them, by softmax weights relative to the maximum score.
/// Returns the maximum and the sum of the weights.
#[inline(always)]
fn weigh(scores: &mut [f32]) -> (f32, f32) {
    let (chunks, _) = scores.as_chunks_mut::<LANES>();
    let mut greatest = [f32::NEG_INFINITY; LANES];
    for scores in &*chunks {
        for (greatest, score) in greatest.iter_mut().zip(scores) {
            *greatest = if *score > *greatest {
                *score
            } else {
                *greatest
            };
        }
    }
    let greatest = greatest.into_iter().fold(f32::NEG_INFINITY, f32::max);
    let mut sums = [0.0; LANES];
    for scores in chunks {
        for (sum, score) in sums.iter_mut().zip(scores) {
            *score = exp(*score - greatest);
            *sum += *score;
        }
    }
    (greatest, sum_lanes(sums))
}
