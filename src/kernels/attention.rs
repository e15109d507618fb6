//! Causal attention over KV blocks, without storing the score matrix.

mod means;
mod span;

use std::ops::Range;

use super::block::{Block, LayerLayout};
use super::cpu::Cpu;
use super::disjoint::Disjoint;
use super::simd::Simd;
use means::Means;
use span::{Attend, SPAN};

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
pub struct Scoring<'a> {
    /// What the product of a query and a key is multiplied by.
    pub scale: f32,
    /// Bounds a score: `cap * tanh(score / cap)`.
    pub softcap: Option<f32>,
    /// How many positions a query attends to, up to its own and with it. None: all of them.
    pub window: Option<usize>,
    /// For each head a score that takes part in the softmax and has no value (attention sink): `[n_heads]`.
    pub sinks: Option<&'a [f32]>,
}

impl Scoring<'_> {
    /// Scores divided by `sqrt(head_dim)`, over all positions.
    pub fn new(head_dim: usize) -> Self {
        Self {
            scale: 1.0 / (head_dim as f32).sqrt(),
            softcap: None,
            window: None,
            sinks: None,
        }
    }
}

/// Causal attention: for each query, the mean of the values up to its position, weighted by the
/// softmax of the scaled scores.
///
/// `q` is `[rows, n_heads * head_dim]`, and so is the result. `n_heads` is a multiple of the
/// layer's `n_kv_heads`: `n_heads / n_kv_heads` consecutive query heads share one key/value head.
///
/// The softmax is online: each span adds to a running sum, which is rescaled when a span has a
/// greater maximum score (Milakov and Gimelshein, arXiv 1805.02867; Dao et al., FlashAttention,
/// arXiv 2205.14135). Each row merges its spans in order and independently of other rows, so its
/// bits do not depend on the batch.
///
/// # Panics
/// Where the `rows` of `sequences` are not in order, or two of them have a row in common.
pub fn attention(
    q: &[f32],
    n_heads: usize,
    layer: LayerLayout,
    scoring: Scoring<'_>,
    sequences: &[Queries<'_>],
) -> Vec<f32> {
    let in_order = |one: &Queries<'_>, next: &Queries<'_>| {
        one.rows.start <= one.rows.end && one.rows.end <= next.rows.start
    };
    // Two threads would write to a row of two sequences.
    assert!(
        sequences.is_sorted_by(in_order),
        "the rows of the sequences must be in order, and no row in two of them"
    );
    let cpu = Cpu::current();
    let mut out = vec![0.0; q.len()];
    let group = n_heads / layer.n_kv_heads;
    let heads = Heads { q, width: n_heads * layer.head_dim, group, layer, scoring };
    let tasks = tasks(sequences, layer.n_kv_heads, group, cpu.simd());
    let spans = tasks.iter().map(|task| heads.spans(task).len()).max().unwrap_or(0);

    let parts = Disjoint::new(&mut out);
    if cpu.threads() == 1 || spans == 1 || tasks.len() >= 2 * cpu.threads() {
        cpu.for_each(tasks.len(), |i| {
            // Longest tasks first, so that the threads finish together: the last rows attend to the
            // most positions.
            let task = &tasks[tasks.len() - 1 - i];
            let means = heads.means(task, heads.spans(task), &cpu);
            means.write(&heads, task, &parts);
        });
    } else {
        let totals = heads.means_by_span(&tasks, &cpu);
        for (task, means) in tasks.iter().zip(totals.into_iter().flatten()) {
            means.write(&heads, task, &parts);
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
    layer: LayerLayout,
    scoring: Scoring<'a>,
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
        for queries in simd.tiles(sequence.rows.len() * group) {
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
    /// Computes a task over some spans, one after the other.
    fn means(&self, task: &Task<'_>, spans: Range<usize>, cpu: &Cpu) -> Means {
        cpu.simd().dispatch_rows(task.queries, Attend { heads: self, task, spans })
    }

    /// Computes each task, its spans in parallel: for few rows and a long context.
    fn means_by_span(&self, tasks: &[Task<'_>], cpu: &Cpu) -> Vec<Option<Means>> {
        let mut parts = Vec::new();
        for (i, task) in tasks.iter().enumerate() {
            parts.extend(self.spans(task).map(|span| (i, span, None)));
        }
        cpu.for_each_of(&mut parts, |(task, span, means)| {
            *means = Some(self.means(&tasks[*task], *span..*span + 1, cpu));
        });
        let mut totals: Vec<Option<Means>> = tasks.iter().map(|_| None).collect();
        for (task, _, means) in parts {
            match (&mut totals[task], means) {
                (Some(total), Some(means)) => total.merge(&means),
                (total, means) => *total = means,
            }
        }
        totals
    }

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
        let row = task.sequence.rows.start + (task.first + query) / self.group;
        let start = row * self.width + self.head(task, query) * self.layer.head_dim;
        start..start + self.layer.head_dim
    }

    /// The query head of a query of the task.
    #[inline(always)]
    fn head(&self, task: &Task<'_>, query: usize) -> usize {
        task.head * self.group + (task.first + query) % self.group
    }
}
