//! Attention over blocks of keys and values, of any length, without a matrix of scores.

use std::array;
use std::ops::Range;

use super::block::{BLOCK, Block, BlockLayout, VALUE_LANES};
use super::cpu::Cpu;
use super::disjoint::Disjoint;
use super::elementwise::sum_lanes;
use super::exp::exp;
use super::microkernel::{LANES, accumulate_rows, product};
use super::simd::{Isa, Kernel, RowKernel, Simd, fma};

/// Positions of a span: their scores are kept, made into weights, and used, before those of the
/// next span are computed. Spans begin at multiples of this in every sequence, so that it does
/// not matter who computes which of them, or when.
const SPAN: usize = 8 * BLOCK;

/// One sequence's queries, and what they look at.
pub struct Queries<'a> {
    /// The blocks of the sequence, in order. They hold at least the last of its new positions.
    pub blocks: Vec<&'a Block>,
    /// The position of the first query.
    pub start: usize,
    /// Where the queries lie among the rows of all.
    pub rows: Range<usize>,
}

/// Causal attention: for each query, the mean of the values up to its own position, weighted by
/// the softmax of how well their keys fit it.
///
/// `q` is `[rows, n_heads * head_dim]`, and so is the result. `n_heads` is a multiple of the
/// layout's `n_kv_heads`: as many query heads in a row share the keys and values of one head.
///
/// The softmax is online: each span adds to a running sum, and where it holds a greater score
/// than those before, what was summed is scaled down (Milakov and Gimelshein, arXiv 1805.02867;
/// Dao et al., FlashAttention, arXiv 2205.14135). For each row, spans are merged in order, and
/// each works on the same numbers whatever else is computed beside it.
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
            // The last rows have most to look at. Those that come last should be short.
            let task = &tasks[tasks.len() - 1 - i];
            let spans = 0..task.spans(group);
            let means = cpu.simd().dispatch(Attend { heads: &heads, task, spans });
            means.write(&heads, task, &out);
        });
    } else {
        // Few rows and many positions: the spans of a row are computed side by side.
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
            *means = Some(cpu.simd().dispatch(Attend { heads: &heads, task, spans }));
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

/// What all tasks share.
struct Heads<'a> {
    /// `[rows, width]`
    q: &'a [f32],
    width: usize,
    /// How many query heads share a key/value head.
    group: usize,
    layer: usize,
    layout: BlockLayout,
}

/// Some queries of one key/value head: the query heads that share it, one beside the other, for
/// one position after the other.
struct Task<'a> {
    sequence: &'a Queries<'a>,
    head: usize,
    /// The first of its queries: `position * group + query head`, from the sequence's first.
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
    /// The position of one of its queries.
    #[inline(always)]
    fn position(&self, query: usize, group: usize) -> usize {
        self.sequence.start + (self.first + query) / group
    }

    /// How many spans its last query looks at.
    fn spans(&self, group: usize) -> usize {
        self.position(self.queries - 1, group) / SPAN + 1
    }
}

impl Heads<'_> {
    /// Where a query of the task lies in `q`.
    #[inline(always)]
    fn range(&self, task: &Task<'_>, query: usize) -> Range<usize> {
        let query = task.first + query;
        let row = task.sequence.rows.start + query / self.group;
        let head = task.head * self.group + query % self.group;
        let start = row * self.width + head * self.layout.head_dim;
        start..start + self.layout.head_dim
    }
}

/// Weighted sums of values, for some queries.
struct Means {
    /// For each query the greatest score, and the sum of the weights relative to it; a sum of 0
    /// where there was nothing to look at.
    rows: Vec<(f32, f32)>,
    /// `[queries][value_width]`
    sums: Vec<f32>,
}

impl Means {
    // ANCHOR: merge
    /// Adds what a later span gave.
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

impl Kernel for Attend<'_> {
    type Output = Means;

    #[inline(always)]
    fn run<I: Isa>(self) -> Means {
        I::with_rows(self.task.queries, self)
    }
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

    /// The queries as the microkernel reads them, `[head_dim][M]`, and scaled.
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
        // How many positions of the span each query looks at: no more than the next one.
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

        // Weights: `exp` of the scores, relative to the greatest.
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
                // All look at as much as the first. What the others look at beyond that, each
                // adds for itself: a product with a weight of zero would not do, as a value may
                // be infinite.
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

/// Makes scores, whole lanes of them, into weights relative to the greatest. Returns that, and
/// the sum of the weights.
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
