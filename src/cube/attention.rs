//! Causal attention over blocks, for all sequences of a pass in one launch.
//!
//! A cube takes a few queries that share a key/value head, so that each key and value that it reads
//! serves all of them: the query heads of a group at one position, then at the next. It goes through the
//! positions in spans, and keeps a running softmax as the kernel of the CPU does (Milakov and
//! Gimelshein, arXiv 1805.02867; Dao et al., FlashAttention, arXiv 2205.14135).
//!
//! Spans begin at the same positions in every sequence, and within one the order of the additions is
//! fixed. So the bits of a row depend on its own sequence only: not on the batch, not on how the sequence
//! was split into passes, and not on how many units a cube has.

use std::ops::Range;

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, Dispatch, backend_extension};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{CubeBackend, cubecl};
use cubecl::calculate_cube_count_elemwise;
use cubecl::prelude::{Tensor as Buffer, *};

use super::blocks::SlotShape;
use super::{address_type, element, empty_like};
use crate::kernels::{BLOCK, Scoring};

/// The positions whose scores are held at once.
const SPAN: usize = 4 * BLOCK;
/// The units of a cube, where the device has so many: one for each position of a span.
const UNITS: u32 = SPAN as u32;
/// The most queries that a cube takes.
const MOST_QUERIES: usize = 4;
/// What a kernel may take of the memory that the units of a cube share: what WebGPU has at least, in
/// numbers.
const SHARED: usize = 16 * 1024 / 4;
/// The numbers that describe a task.
const TASK: usize = 6;

/// The new positions of one sequence, and the slots that hold its keys and values.
pub(crate) struct Rows {
    /// The rows of the new positions in the pass.
    pub(crate) rows: Range<usize>,
    /// The position of the first of them.
    pub(crate) start: usize,
    /// The slots of its blocks, in order.
    pub(crate) slots: Vec<u32>,
    /// The number of the first of these blocks in the sequence.
    pub(crate) first_block: usize,
}

/// Which rows attend to which slots, on the device. All layers of a pass use the same.
pub(crate) struct Plan {
    /// The places of the rows, then the tasks, then the slots of all sequences: u32.
    numbers: Tensor<1, Int>,
    /// How many rows there are.
    rows: usize,
    tasks: usize,
    /// How many query heads share a key/value head.
    group: usize,
    /// How many queries a task has at most.
    queries: usize,
}

/// What a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Tile {
    slot: SlotShape,
    group: usize,
    queries: usize,
    /// How many units share the sum of one number over the positions of a span.
    parts: usize,
    capped: bool,
}

/// How scores are made, and where the tasks are.
#[derive(Debug, Clone, Copy)]
struct Launch {
    tile: Tile,
    /// Where the tasks begin in the numbers of the plan.
    tasks_at: usize,
    tasks: usize,
    scoring: Scoring,
}

/// Whether the kernel has room for heads of this size.
pub(crate) fn fits(head_dim: usize) -> bool {
    most_queries(head_dim) > 0
}

/// How many queries of this size have room in the memory that units share.
fn most_queries(head_dim: usize) -> usize {
    let numbers = head_dim + SPAN + SPAN / 2 + parts(head_dim) * head_dim + 3;
    (SHARED / numbers).min(MOST_QUERIES)
}

/// How many units share the sum of one number: as many as leave no unit idle, and as are a power of two.
fn parts(head_dim: usize) -> usize {
    let parts = (UNITS as usize / head_dim).clamp(1, BLOCK);
    1 << parts.ilog2()
}

impl Plan {
    /// The plan of a pass over these sequences, whose query heads share key/value heads in groups.
    pub(crate) fn new(sequences: &[Rows], group: usize, head_dim: usize, device: &Device) -> Self {
        let longest = sequences.iter().map(|sequence| sequence.rows.len()).max().unwrap_or(0);
        let queries = most_queries(head_dim).min(longest * group).max(1);
        let places = sequences.iter().flat_map(Rows::places);
        let mut numbers: Vec<u32> = places.collect();
        let rows = numbers.len();
        let tasks_of = |sequence: &Rows| (sequence.rows.len() * group).div_ceil(queries);
        let tasks = sequences.iter().map(tasks_of).sum();
        let mut slots_at = rows + tasks * TASK;
        for sequence in sequences {
            let all = sequence.rows.len() * group;
            for first in (0..all).step_by(queries) {
                let Rows { rows, start, first_block, .. } = sequence;
                let count = queries.min(all - first);
                let task = [rows.start, *start, first, count, slots_at, *first_block];
                numbers.extend(task.map(|number| number as u32));
            }
            slots_at += sequence.slots.len();
        }
        numbers.extend(sequences.iter().flat_map(|sequence| &sequence.slots));
        let shape = [numbers.len()];
        let numbers = Tensor::from_data(TensorData::new(numbers, shape), (device, DType::U32));
        Self { numbers, rows, tasks, group, queries }
    }

    /// The numbers of the plan, which begin with the place of each row.
    pub(crate) fn places(&self) -> &Tensor<1, Int> {
        &self.numbers
    }
}

impl Rows {
    /// The place of each row: 32 times the slot, and the position in the block.
    fn places(&self) -> impl Iterator<Item = u32> {
        (self.start..self.start + self.rows.len()).map(|position| {
            let slot = self.slots[position / BLOCK - self.first_block];
            slot * BLOCK as u32 + (position % BLOCK) as u32
        })
    }
}

#[backend_extension(Cube)]
trait AttentionOps: Backend {
    /// As [`attend`].
    fn attend(
        q: FloatTensor<Self>,
        slots: FloatTensor<Self>,
        plan: IntTensor<Self>,
        launch: Launch,
    ) -> FloatTensor<Self>;
}

/// Attention of the queries, `[rows, n_heads * head_dim]`, to the keys and values in the slots of a layer.
/// Returns the shape of `q`.
pub(crate) fn attend(
    q: Tensor<2>,
    slots: &Tensor<1>,
    plan: &Plan,
    slot: SlotShape,
    scoring: Scoring,
) -> Tensor<2> {
    let tile = Tile {
        slot,
        group: plan.group,
        queries: plan.queries,
        parts: parts(slot.head_dim),
        capped: scoring.softcap.is_some(),
    };
    let launch = Launch { tile, tasks_at: plan.rows, tasks: plan.tasks, scoring };
    let [q, slots] = [q.into_dispatch(), slots.clone().into_dispatch()];
    let numbers = plan.numbers.clone().into_dispatch();
    Tensor::from_dispatch(<Dispatch as AttentionOps>::attend(q, slots, numbers, launch))
}

impl AttentionOps for CubeBackend {
    fn attend(
        q: FloatTensor<Self>,
        slots: FloatTensor<Self>,
        plan: IntTensor<Self>,
        launch: Launch,
    ) -> FloatTensor<Self> {
        let q = into_contiguous(q);
        let out = empty_like(&q);
        let Launch { tile, tasks_at, tasks, scoring } = launch;
        let dim = units(&q);
        let cubes = tasks * tile.slot.n_kv_heads;
        let working = cubes * dim.num_elems() as usize;
        let window = scoring.window.unwrap_or(usize::MAX).min(i32::MAX as usize);
        attend_blocks::launch(
            &out.client.clone(),
            calculate_cube_count_elemwise(&q.client, working, dim),
            dim,
            address_type([&q, &slots]),
            q.clone().into_tensor_arg(),
            slots.clone().into_tensor_arg(),
            plan.into_tensor_arg(),
            out.clone().into_tensor_arg(),
            tasks_at,
            cubes,
            scoring.scale,
            scoring.softcap.unwrap_or(0.0),
            window,
            tile,
            [element(&q), element(&slots)],
        );
        out
    }
}

/// The units of a cube. On a CPU, where units are threads and cubes are what is shared out, one.
fn units(tensor: &CubeTensor) -> CubeDim {
    let hardware = &tensor.client.properties().hardware;
    CubeDim::new_1d(match hardware.num_cpu_cores {
        Some(_) => 1,
        None => UNITS.min(hardware.max_units_per_cube),
    })
}

/// A cube takes one task and one key/value head.
#[cube(launch, address_type = "dynamic")]
fn attend_blocks<T: Float, K: Float>(
    q: &Buffer<T>,
    slots: &Buffer<K>,
    plan: &Buffer<u32>,
    out: &mut Buffer<T>,
    tasks_at: usize,
    cubes: usize,
    scale: f32,
    softcap: f32,
    window: usize,
    #[comptime] tile: Tile,
    #[define(T, K)] _elements: [ElemType; 2],
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let head_dim = comptime!(tile.slot.head_dim);
    let n_kv_heads = comptime!(tile.slot.n_kv_heads);
    let queries = comptime!(tile.queries);
    let parts = comptime!(tile.parts);
    let head = CUBE_POS % n_kv_heads;
    let task =
        Task::read(plan, tasks_at + CUBE_POS / n_kv_heads * TASK, window, comptime!(tile.group));
    let unit = UNIT_POS as usize;
    let units = CUBE_DIM as usize;

    let mut query = Shared::<[f32]>::new_slice(comptime!(queries * head_dim));
    let mut scores = Shared::<[f32]>::new_slice(comptime!(queries * SPAN));
    let mut room = Shared::<[f32]>::new_slice(comptime!(queries * SPAN / 2));
    let mut sums = Shared::<[f32]>::new_slice(comptime!(queries * parts * head_dim));
    // For each query the greatest score so far, the sum of the weights relative to it, and by what the
    // sums change where a span has a greater one.
    let mut greatest = Shared::<[f32]>::new_slice(queries);
    let mut total = Shared::<[f32]>::new_slice(queries);
    let mut factor = Shared::<[f32]>::new_slice(queries);

    for i in range_stepped(unit, queries * head_dim, units) {
        let number = min(i / head_dim, task.count - 1);
        let at = task.column(number, head, n_kv_heads) * head_dim + i % head_dim;
        query[i] = f32::cast_from(q[at]) * scale;
    }
    for i in range_stepped(unit, queries * parts * head_dim, units) {
        sums[i] = 0.0;
    }
    for i in range_stepped(unit, queries, units) {
        greatest[i] = f32::MIN;
        total[i] = 0.0;
    }
    sync_cube();

    // ANCHOR: spans
    let first = task.begin(0usize) / SPAN;
    let last = task.end(task.count - 1) - 1;
    for span in first..last / SPAN + 1 {
        let start = span * SPAN;
        score(slots, plan, &query, &mut scores, &task, start, head, softcap, tile);
        sync_cube();
        greatest_of(&scores, &mut room, queries);
        weigh(&mut scores, &room, &greatest, &task, start, queries);
        sync_cube();
        for i in range_stepped(unit, queries, units) {
            let new = max(greatest[i], room[i * (SPAN / 2)]);
            factor[i] = (greatest[i] - new).exp();
            greatest[i] = new;
        }
        sync_cube();
        sum_of(&scores, &mut room, queries);
        for i in range_stepped(unit, queries, units) {
            total[i] = fma(total[i], factor[i], room[i * (SPAN / 2)]);
        }
        mix(slots, plan, &scores, &factor, &mut sums, &task, start, head, tile);
        sync_cube();
    }
    // ANCHOR_END: spans

    for i in range_stepped(unit, task.count * head_dim, units) {
        let number = i / head_dim;
        let mut sum = 0.0f32;
        for part in 0..parts {
            sum += sums[(number * parts + part) * head_dim + i % head_dim];
        }
        let at = task.column(number, head, n_kv_heads) * head_dim + i % head_dim;
        out[at] = T::cast_from(sum / total[number]);
    }
}

/// Some queries of one sequence, which share a key/value head.
#[derive(CubeType)]
struct Task {
    /// The row of the first new position of the sequence.
    row: usize,
    /// The position of that row.
    start: usize,
    /// The number of the first query: its row, times the query heads of a group, and which of these it is.
    first: usize,
    /// How many queries there are.
    count: usize,
    /// Where the slots of the sequence begin in the plan.
    slots: usize,
    /// The number of the block in the first of these slots.
    first_block: usize,
    window: usize,
    #[cube(comptime)]
    group: usize,
}

#[cube]
impl Task {
    fn read(plan: &Buffer<u32>, at: usize, window: usize, #[comptime] group: usize) -> Task {
        Task {
            row: plan[at] as usize,
            start: plan[at + 1] as usize,
            first: plan[at + 2] as usize,
            count: plan[at + 3] as usize,
            slots: plan[at + 4] as usize,
            first_block: plan[at + 5] as usize,
            window,
            group,
        }
    }

    /// The number of a query of the task among the heads of all rows.
    fn column(&self, number: usize, head: usize, n_kv_heads: usize) -> usize {
        let query = self.first + number;
        let row = self.row + query / self.group;
        (row * n_kv_heads + head) * self.group + query % self.group
    }

    /// The end of the positions that a query of the task attends to.
    fn end(&self, number: usize) -> usize {
        self.start + (self.first + number) / self.group + 1
    }

    /// The first of the positions that a query of the task attends to.
    fn begin(&self, number: usize) -> usize {
        let end = self.end(number);
        end - min(end, self.window)
    }

    /// Where the block of a position begins in the slots of a layer: the keys, or from `part` 1 the values,
    /// of a head.
    fn block(
        &self,
        plan: &Buffer<u32>,
        position: usize,
        part: usize,
        head: usize,
        #[comptime] shape: SlotShape,
    ) -> usize {
        let slot = plan[self.slots + position / BLOCK - self.first_block] as usize;
        ((slot * 2 + part) * shape.n_kv_heads + head) * comptime!(BLOCK * shape.head_dim)
    }
}

/// The scores of the positions of a span, `[queries, SPAN]`. A unit takes a position.
#[cube]
fn score<K: Float>(
    slots: &Buffer<K>,
    plan: &Buffer<u32>,
    query: &Shared<[f32]>,
    scores: &mut Shared<[f32]>,
    task: &Task,
    start: usize,
    head: usize,
    softcap: f32,
    #[comptime] tile: Tile,
) {
    let head_dim = comptime!(tile.slot.head_dim);
    let queries = comptime!(tile.queries);
    let begin = task.begin(0usize);
    let end = task.end(task.count - 1);
    for i in range_stepped(UNIT_POS as usize, SPAN, CUBE_DIM as usize) {
        let position = start + i;
        let mut products = Array::<f32>::new(queries);
        #[unroll]
        for number in 0..queries {
            products[number] = 0.0;
        }
        if position >= begin && position < end {
            let keys = task.block(plan, position, 0usize, head, tile.slot) + position % BLOCK;
            for d in 0..head_dim {
                let key = f32::cast_from(slots[keys + d * BLOCK]);
                #[unroll]
                for number in 0..queries {
                    products[number] = fma(query[number * head_dim + d], key, products[number]);
                }
            }
        }
        #[unroll]
        for number in 0..queries {
            let mut score = products[number];
            if comptime!(tile.capped) {
                score = softcap * (score / softcap).tanh();
            }
            let visible = is_visible(task, number, position);
            scores[number * SPAN + i] = select(visible, score, f32::MIN);
        }
    }
}

/// Whether a query attends to a position.
#[cube]
fn is_visible(task: &Task, number: usize, position: usize) -> bool {
    number < task.count && position >= task.begin(number) && position < task.end(number)
}

/// The greatest of the scores of each query: `room[query * SPAN / 2]`.
#[cube]
fn greatest_of(scores: &Shared<[f32]>, room: &mut Shared<[f32]>, #[comptime] queries: usize) {
    let half = comptime!(SPAN / 2);
    for i in range_stepped(UNIT_POS as usize, queries * half, CUBE_DIM as usize) {
        let at = i / half * SPAN + i % half;
        room[i] = max(scores[at], scores[at + half]);
    }
    sync_cube();
    #[unroll]
    for step in 1..comptime!(SPAN.ilog2() as usize) {
        let width = comptime!(half >> step);
        for i in range_stepped(UNIT_POS as usize, queries * width, CUBE_DIM as usize) {
            let at = i / width * half + i % width;
            room[at] = max(room[at], room[at + width]);
        }
        sync_cube();
    }
}

/// The sum of the weights of each query: `room[query * SPAN / 2]`. The tree of additions is the same for
/// any number of units.
#[cube]
fn sum_of(weights: &Shared<[f32]>, room: &mut Shared<[f32]>, #[comptime] queries: usize) {
    let half = comptime!(SPAN / 2);
    for i in range_stepped(UNIT_POS as usize, queries * half, CUBE_DIM as usize) {
        let at = i / half * SPAN + i % half;
        room[i] = weights[at] + weights[at + half];
    }
    sync_cube();
    #[unroll]
    for step in 1..comptime!(SPAN.ilog2() as usize) {
        let width = comptime!(half >> step);
        for i in range_stepped(UNIT_POS as usize, queries * width, CUBE_DIM as usize) {
            let at = i / width * half + i % width;
            room[at] += room[at + width];
        }
        sync_cube();
    }
}

/// Replaces scores by weights relative to the greatest score so far, and by 0 where a query does not attend.
#[cube]
fn weigh(
    scores: &mut Shared<[f32]>,
    room: &Shared<[f32]>,
    greatest: &Shared<[f32]>,
    task: &Task,
    start: usize,
    #[comptime] queries: usize,
) {
    for i in range_stepped(UNIT_POS as usize, queries * SPAN, CUBE_DIM as usize) {
        let number = i / SPAN;
        let new = max(greatest[number], room[number * (SPAN / 2)]);
        let visible = is_visible(task, number, start + i % SPAN);
        scores[i] = select(visible, (scores[i] - new).exp(), 0.0);
    }
}

/// Adds the values of a span, times the weights, to the sums of each query, `[queries, parts, head_dim]`.
/// A unit takes a number of the values, and each of `parts` positions.
#[cube]
fn mix<K: Float>(
    slots: &Buffer<K>,
    plan: &Buffer<u32>,
    weights: &Shared<[f32]>,
    factor: &Shared<[f32]>,
    sums: &mut Shared<[f32]>,
    task: &Task,
    start: usize,
    head: usize,
    #[comptime] tile: Tile,
) {
    let head_dim = comptime!(tile.slot.head_dim);
    let parts = comptime!(tile.parts);
    for i in range_stepped(UNIT_POS as usize, task.count * parts * head_dim, CUBE_DIM as usize) {
        let number = i / (parts * head_dim);
        let part = i / head_dim % parts;
        let begin = max(task.begin(number), start);
        let end = min(task.end(number), start + SPAN);
        // A query that attends to none of them keeps its bits.
        if begin < end {
            let mut sum = sums[i] * factor[number];
            for block in begin / BLOCK..(end - 1) / BLOCK + 1 {
                let from = max(begin, block * BLOCK);
                let to = min(end, (block + 1) * BLOCK);
                let values = task.block(plan, from, 1usize, head, tile.slot) + i % head_dim;
                // The first position from there on that is one of this part: 32 is a multiple of `parts`.
                let own = from + (part + parts - from % parts) % parts;
                for position in range_stepped(own, to, parts) {
                    let weight = weights[number * SPAN + position - start];
                    let value = f32::cast_from(slots[values + position % BLOCK * head_dim]);
                    sum = fma(weight, value, sum);
                }
            }
            sums[i] = sum;
        }
    }
}

#[cfg(test)]
mod tests;
