//! Causal attention over KV blocks, without storing the score matrix.

use std::array;
use std::ops::Range;

use super::block::{BLOCK, Block, BlockLayout, VALUE_LANES};
use super::cpu::Cpu;
use super::disjoint::Disjoint;
use super::elementwise::sum_lanes;
use super::exp::exp;
use super::microkernel::{LANES, accumulate_rows, product};
use super::simd::{Isa, RowKernel, Simd, fma};

/// Positions in a span, the tile of the KV cache whose scores are held at once. Span boundaries are
/// multiples of this in every sequence, so it does not matter which thread computes which span, or
/// when.
const SPAN: usize = 8 * BLOCK;

/// The queries of one sequence, and the KV blocks that they attend to.
pub struct Queries<'a> {
    /// The KV blocks of the sequence, in order, at least up to its last new position.
    pub blocks: Vec<&'a Block>,
    /// The position of the first query.
    pub start: usize,
    /// The rows of the queries in `q`.
    pub rows: Range<usize>,
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
    sequences: &[Queries<'_>],
) -> Vec<f32> {
    let cpu = Cpu::current();
    let mut out = vec![0.0; q.len()];
    let group = n_heads / layout.n_kv_heads;
    let heads = Heads { q, width: n_heads * layout.head_dim, group, layer, layout };
    let tasks = tasks(sequences, layout.n_kv_heads, group, cpu.simd());
    let spans = tasks.iter().map(|task| task.spans(group)).max().unwrap_or(0);

    if cpu.threads() == 1 || spans == 1 || tasks.len() >= 2 * cpu.threads() {
        let out = Disjoint::new(&mut out);
        cpu.for_each(tasks.len(), |i| {
            // Longest tasks first, so that the threads finish together: the last rows attend to the
            // most positions.
            let task = &tasks[tasks.len() - 1 - i];
            let spans = 0..task.spans(group);
            let means =
                cpu.simd().dispatch_rows(task.queries, Attend { heads: &heads, task, spans });
            means.write(&heads, task, &out);
        });
    } else {
        // Few rows and a long context: the spans of a row are computed in parallel.
        let mut parts = Vec::new();
        for (i, task) in tasks.iter().enumerate() {
            parts.extend((0..task.spans(group)).map(|span| (i, span, None)));
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

    /// The number of spans that the last query attends to.
    fn spans(&self, group: usize) -> usize {
        self.position(self.queries - 1, group) / SPAN + 1
    }
}

impl Heads<'_> {
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
        let head_dim = self.heads.layout.head_dim;
        let scale = 1.0 / (head_dim as f32).sqrt();
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
        let Heads { group, layer, layout, .. } = *self.heads;
        // Positions of the span that each query attends to, never fewer than the query before it.
        let start = span * SPAN;
        let visible: [usize; M] = array::from_fn(|query| {
            let end = self.task.position(query, group) + 1;
            end.saturating_sub(start).min(SPAN)
        });
        let blocks = &self.task.sequence.blocks[start / BLOCK..];
        let blocks = &blocks[..visible[M - 1].div_ceil(BLOCK)];

        // Scores: the keys are panels, the queries are rows.
        let head = self.task.head;
        let mut key_room = Vec::new();
        let mut scores = [[0.0; SPAN]; M];
        for (i, block) in blocks.iter().enumerate() {
            let keys = block.keys::<I>(layer, head, &mut key_room);
            let sums = product::<I, M>(keys, q);
            for (scores, sums) in scores.iter_mut().zip(&sums) {
                scores[i * BLOCK..(i + 1) * BLOCK].copy_from_slice(sums);
            }
        }

        // Softmax weights: `exp` of the scores relative to the maximum.
        let mut rows = vec![(f32::NEG_INFINITY, 0.0); M];
        for ((scores, row), visible) in scores.iter_mut().zip(&mut rows).zip(visible) {
            if visible > 0 {
                let scores = &mut scores[..blocks.len() * BLOCK];
                scores[visible..].fill(f32::NEG_INFINITY);
                *row = weigh(scores);
            }
        }

        // Sums of values: the values are panels, the weights are rows.
        let width = layout.value_width();
        let mut sums = vec![0.0; M * width];
        let mut value_room = Vec::new();
        for panel in 0..width / VALUE_LANES {
            let mut acc = [[0.0; VALUE_LANES]; M];
            for (i, block) in blocks.iter().enumerate() {
                let start = i * BLOCK;
                let values = block.values::<I>(layer, head, panel, &mut value_room);
                // All queries attend to at least the positions of the first. Each adds its further
                // ones separately. A weight of zero would not mask a value: the value may be
                // infinite.
                let shared = visible[0].clamp(start, start + BLOCK) - start;
                accumulate_rows::<VALUE_LANES, M, SPAN>(
                    &mut acc,
                    &values[..shared],
                    &scores,
                    start,
                );
                for query in 1..M {
                    let end = visible[query].clamp(start, start + BLOCK) - start;
                    if shared < end {
                        accumulate_rows::<VALUE_LANES, 1, SPAN>(
                            array::from_mut(&mut acc[query]),
                            &values[shared..end],
                            array::from_ref(&scores[query]),
                            start + shared,
                        );
                    }
                }
            }
            for (query, acc) in acc.iter().enumerate() {
                let start = query * width + panel * VALUE_LANES;
                sums[start..start + VALUE_LANES].copy_from_slice(acc);
            }
        }
        Means { rows, sums }
    }
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
