//! Causal attention over KV blocks, without storing the score matrix.

use std::array;
use std::ops::Range;

use super::block::{BLOCK, Block, BlockLayout, VALUE_LANES};
use super::cpu::Cpu;
use super::disjoint::Disjoint;
use super::elementwise::sum_lanes;
use super::exp::{exp, tanh};
use super::microkernel::{LANES, accumulate_rows, product};
use super::simd::{Isa, RowKernel, Simd, fma};

/// Positions in a span, the tile of the KV cache whose scores are held at once. Span boundaries are
/// multiples of this in every sequence, so it does not matter which thread computes which span, or
/// when.
const SPAN: usize = 8 * BLOCK;

/// The queries of one sequence, and the KV blocks that they attend to.
pub struct Queries<'a> {
    /// The KV blocks of the sequence, in order, from the first that a query attends to, or an earlier
    /// one, at least up to its last new position.
    pub blocks: Vec<&'a Block>,
    /// The number of the first of these blocks in the sequence.
    pub first_block: usize,
    /// The position of the first query.
    pub start: usize,
    /// The rows of the queries in `q`.
    pub rows: Range<usize>,
}

/// How scores are made, and which positions a query attends to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scoring {
    /// What the product of a query and a key is multiplied by.
    pub scale: f32,
    /// Bounds a score: `cap * tanh(score / cap)`.
    pub softcap: Option<f32>,
    /// How many positions a query attends to, up to its own and with it. None: all of them.
    pub window: Option<usize>,
}

impl Scoring {
    /// Scores divided by `sqrt(head_dim)`, over all positions.
    pub fn new(head_dim: usize) -> Self {
        Self {
            scale: 1.0 / (head_dim as f32).sqrt(),
            softcap: None,
            window: None,
        }
    }
}

/// Causal attention: for each query, the mean of the values up to its position, weighted by the
/// softmax of the scaled scores.
///
/// `q` is `[rows, n_heads * head_dim]`, and so is the result. `n_heads` is a multiple of the
/// layout's `n_kv_heads`: `n_heads / n_kv_heads` consecutive query heads share one key/value head.
///
/// The softmax is online: each span adds to a running sum, which is rescaled when a span has a
/// greater maximum score (Milakov and Gimelshein, arXiv 1805.02867; Dao et al., FlashAttention,
/// arXiv 2205.14135). Each row merges its spans in order and independently of other rows, so its
/// bits do not depend on the batch.
pub fn attention(
    q: &[f32],
    n_heads: usize,
    layer: usize,
    layout: BlockLayout,
    scoring: Scoring,
    sequences: &[Queries<'_>],
) -> Vec<f32> {
    let cpu = Cpu::current();
    let mut out = vec![0.0; q.len()];
    let group = n_heads / layout.n_kv_heads;
    let heads = Heads {
        q,
        width: n_heads * layout.head_dim,
        group,
        layer,
        layout,
        scoring,
    };
    let tasks = tasks(sequences, layout.n_kv_heads, group, cpu.simd());
    let spans = tasks.iter().map(|task| heads.spans(task).len()).max().unwrap_or(0);

    if cpu.threads() == 1 || spans == 1 || tasks.len() >= 2 * cpu.threads() {
        let out = Disjoint::new(&mut out);
        cpu.for_each(tasks.len(), |i| {
            // Longest tasks first, so that the threads finish together: the last rows attend to the
            // most positions.
            let task = &tasks[tasks.len() - 1 - i];
            let spans = heads.spans(task);
            let means =
                cpu.simd().dispatch_rows(task.queries, Attend { heads: &heads, task, spans });
            means.write(&heads, task, &out);
        });
    } else {
        // Few rows and a long context: the spans of a row are computed in parallel.
        let mut parts = Vec::new();
        for (i, task) in tasks.iter().enumerate() {
            parts.extend(heads.spans(task).map(|span| (i, span, None)));
        }
        let cells = Disjoint::new(&mut parts);
        cpu.for_each(cells.len(), |i| {
            // SAFETY: each task takes one cell.
            let [(task, span, means)] = (unsafe { cells.part(i..i + 1) }) else {
                return;
            };
            let (task, spans) = (&tasks[*task], *span..*span + 1);
            *means =
                Some(cpu.simd().dispatch_rows(task.queries, Attend { heads: &heads, task, spans }));
        });
        let out = Disjoint::new(&mut out);
        let mut totals: Vec<Option<Means>> = tasks.iter().map(|_| None).collect();
        for (task, _, means) in parts {
            match (&mut totals[task], means) {
                (Some(total), Some(means)) => total.merge(&means),
                (total, means) => *total = means,
            }
        }
        for (task, means) in tasks.iter().zip(totals.into_iter().flatten()) {
            means.write(&heads, task, &out);
        }
    }
    out
}

/// The inputs that all tasks share.
struct Heads<'a> {
    /// `[rows, width]`
    q: &'a [f32],
    width: usize,
    /// How many query heads share a key/value head.
    group: usize,
    layer: usize,
    layout: BlockLayout,
    scoring: Scoring,
}

/// A tile of queries of one key/value head: all query heads of its group at one position, then at
/// the next.
struct Task<'a> {
    sequence: &'a Queries<'a>,
    head: usize,
    /// The index of the first query, `position * group + query head`, from the sequence's first.
    first: usize,
    queries: usize,
}

fn tasks<'a>(
    sequences: &'a [Queries<'a>],
    n_kv_heads: usize,
    group: usize,
    simd: Simd,
) -> Vec<Task<'a>> {
    let mut tasks = Vec::new();
    for sequence in sequences {
        let mut first = 0;
        for queries in simd.passes(sequence.rows.len() * group) {
            tasks.extend((0..n_kv_heads).map(|head| Task { sequence, head, first, queries }));
            first += queries;
        }
    }
    tasks
}

impl Task<'_> {
    /// The position of a query of the task.
    #[inline(always)]
    fn position(&self, query: usize, group: usize) -> usize {
        self.sequence.start + (self.first + query) / group
    }
}

impl Heads<'_> {
    // ANCHOR: spans
    /// The positions that a query of the task attends to: none before its window, none after it.
    #[inline(always)]
    fn positions(&self, task: &Task<'_>, query: usize) -> Range<usize> {
        let end = task.position(query, self.group) + 1;
        end.saturating_sub(self.scoring.window.unwrap_or(end))..end
    }

    /// The spans that a task computes: from where the window of the first query begins to the position
    /// of the last query.
    fn spans(&self, task: &Task<'_>) -> Range<usize> {
        let first = self.positions(task, 0).start;
        first / SPAN..self.positions(task, task.queries - 1).end.div_ceil(SPAN)
    }
    // ANCHOR_END: spans

    /// The range of a query of the task in `q`.
    #[inline(always)]
    fn range(&self, task: &Task<'_>, query: usize) -> Range<usize> {
        let query = task.first + query;
        let row = task.sequence.rows.start + query / self.group;
        let head = task.head * self.group + query % self.group;
        let start = row * self.width + head * self.layout.head_dim;
        start..start + self.layout.head_dim
    }
}

/// Weighted sums of values for some queries, not yet normalized.
struct Means {
    /// For each query the maximum score, and the sum of the weights relative to it; the sum is 0
    /// where all positions are masked.
    rows: Vec<(f32, f32)>,
    /// `[queries][value_width]`
    sums: Vec<f32>,
}

impl Means {
    // ANCHOR: merge
    /// Merges the result of a later span.
    #[inline(always)]
    fn merge(&mut self, later: &Means) {
        let width = self.sums.len() / self.rows.len();
        let sums = self.sums.chunks_exact_mut(width).zip(later.sums.chunks_exact(width));
        for ((row, later_row), (sums, later_sums)) in
            self.rows.iter_mut().zip(&later.rows).zip(sums)
        {
            let ((max, sum), (later_max, later_sum)) = (*row, *later_row);
            if later_sum == 0.0 {
                continue;
            }
            if sum == 0.0 {
                // All earlier spans are before the window.
                *row = *later_row;
                sums.copy_from_slice(later_sums);
                continue;
            }
            let greatest = if later_max > max { later_max } else { max };
            let (scale, later_scale) = (exp(max - greatest), exp(later_max - greatest));
            *row = (greatest, fma(sum, scale, later_sum * later_scale));
            for (sum, later) in sums.iter_mut().zip(later_sums) {
                *sum = fma(*sum, scale, later * later_scale);
            }
        }
    }
    // ANCHOR_END: merge

    fn write(&self, heads: &Heads<'_>, task: &Task<'_>, out: &Disjoint<'_, f32>) {
        let width = self.sums.len() / self.rows.len();
        for (query, (_, weights)) in self.rows.iter().enumerate() {
            // SAFETY: each query belongs to one task.
            let out = unsafe { out.part(heads.range(task, query)) };
            let scale = 1.0 / weights;
            for (out, sum) in out.iter_mut().zip(&self.sums[query * width..]) {
                *out = sum * scale;
            }
        }
    }
}

/// Computes the weighted sums of one task over some spans.
struct Attend<'a> {
    heads: &'a Heads<'a>,
    task: &'a Task<'a>,
    spans: Range<usize>,
}

impl RowKernel for Attend<'_> {
    type Output = Means;

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
        let (head_dim, scale) = (self.heads.layout.head_dim, self.heads.scoring.scale);
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
        let Heads { layer, layout, .. } = *self.heads;
        let width = layout.value_width();
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
                    accumulate_row(&mut acc[query], values, before, &scores[query], from);
                }
                let all = within(shared.clone());
                if !all.is_empty() {
                    let start = from + all.start;
                    accumulate_rows::<VALUE_LANES, M, SPAN>(&mut acc, &values[all], scores, start);
                }
                for query in 1..M {
                    let after = within(shared.end.max(visible[query].start)..visible[query].end);
                    accumulate_row(&mut acc[query], values, after, &scores[query], from);
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
fn accumulate_row(
    acc: &mut [f32; VALUE_LANES],
    values: &[[f32; VALUE_LANES]],
    positions: Range<usize>,
    scores: &[f32; SPAN],
    from: usize,
) {
    if !positions.is_empty() {
        let start = from + positions.start;
        let (acc, scores) = (array::from_mut(acc), array::from_ref(scores));
        accumulate_rows::<VALUE_LANES, 1, SPAN>(acc, &values[positions], scores, start);
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
