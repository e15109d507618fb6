//! Which rows of a pass attend to which slots.

use std::ops::Range;

use burn::tensor::{DType, Device, Int, Tensor, TensorData};

use super::most_queries;
use super::span::SPAN;
use super::tensor_cores::QUERIES;
use crate::cube::blocks::SlotShape;
use crate::kernels::BLOCK;

/// The numbers that describe a tile.
pub(super) const TILE: usize = 7;
/// Where a pass has fewer cubes than this, each takes one span: a large GPU runs so many at once.
const FEW_CUBES: usize = 512;
/// Stands in place of the number of a tile where there is none.
pub(super) const NO_TILE: u32 = u32::MAX;
/// The most cubes that take one span each. What they leave to be merged takes some memory.
const MOST_CUBES: usize = 1 << 15;

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
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Those of [`PlanData`].
    pub(super) numbers: Tensor<1, Int>,
    pub(super) shape: PlanShape,
}

/// A plan before it is on the device.
pub(crate) struct PlanData {
    /// The places of the rows; then tiles, each some queries that share a key/value head; then for
    /// each span of each tile both their numbers, where a cube takes one span; then the slots of all
    /// sequences. Behind them is room, so that plans of other lengths have as many numbers.
    pub(crate) numbers: Vec<u32>,
    pub(crate) shape: PlanShape,
}

/// What a launch is told of a plan besides its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PlanShape {
    pub(super) rows: usize,
    pub(super) tiles: usize,
    /// How many spans of tiles there are, where a cube takes one span. Those that are there to make the number a
    /// round one are of [no tile](NO_TILE).
    pub(super) spans: Option<usize>,
    /// How many query heads share a key/value head.
    pub(super) group: usize,
    /// How many queries a tile has at most.
    pub(super) queries: usize,
    /// Whether a tile is made for these.
    pub(super) tensor_cores: bool,
}

impl PlanData {
    /// The plan of a pass over these sequences, whose query heads share key/value heads in groups.
    /// On `tensor_cores`, a tile is what these take at once.
    pub(crate) fn new(
        sequences: &[Rows],
        group: usize,
        slot: SlotShape,
        tensor_cores: bool,
    ) -> Self {
        Self::with_cubes(sequences, group, slot, tensor_cores, FEW_CUBES)
    }

    /// As [`new`](Self::new), where a cube takes one span if there would be fewer than `few` cubes.
    pub(super) fn with_cubes(
        sequences: &[Rows],
        group: usize,
        slot: SlotShape,
        tensor_cores: bool,
        few: usize,
    ) -> Self {
        let longest = sequences.iter().map(|sequence| sequence.rows.len()).max().unwrap_or(0);
        let queries = match tensor_cores {
            true => QUERIES,
            false => most_queries(slot.head_dim).min(longest * group).max(1),
        };
        let tiles = tiles(sequences, group, queries);
        let spans: usize = tiles.iter().map(|tile| tile.spans.len()).sum();
        let is_split = spans > tiles.len()
            && tiles.len() * slot.n_kv_heads < few
            && spans * slot.n_kv_heads <= MOST_CUBES;

        let mut numbers: Vec<u32> = sequences.iter().flat_map(Rows::places).collect();
        let rows = numbers.len();
        let round_spans = spans.next_power_of_two();
        let slots_at = rows + tiles.len() * TILE + if is_split { 2 * round_spans } else { 0 };
        let mut spans_before = 0;
        for QueryTile { sequence, slots_before, first, count, spans } in &tiles {
            let Rows { rows, start, first_block, .. } = sequence;
            let slots = slots_at + slots_before;
            let tile = [
                rows.start,
                *start,
                *first,
                *count,
                slots,
                *first_block,
                spans_before,
            ];
            numbers.extend(tile.map(|number| number as u32));
            spans_before += spans.len();
        }
        if is_split {
            let of_tile = |(i, tile): (usize, &QueryTile<'_>)| {
                tile.spans.clone().flat_map(move |span| [i as u32, span as u32])
            };
            numbers.extend(tiles.iter().enumerate().flat_map(of_tile));
            numbers.resize(slots_at, NO_TILE);
        }
        numbers.extend(sequences.iter().flat_map(|sequence| &sequence.slots));
        numbers.resize(numbers.len().next_power_of_two(), 0);
        let shape = PlanShape {
            rows,
            tiles: tiles.len(),
            spans: is_split.then_some(round_spans),
            group,
            queries,
            tensor_cores,
        };
        Self { numbers, shape }
    }
}

impl Plan {
    /// A plan whose numbers are in this memory.
    pub(crate) fn of(numbers: Tensor<1, Int>, shape: PlanShape) -> Self {
        Self { numbers, shape }
    }

    /// Copies a plan to a device.
    pub(crate) fn upload(plan: PlanData, device: &Device) -> Self {
        let length = plan.numbers.len();
        let numbers = TensorData::new(plan.numbers, [length]);
        Self::of(Tensor::from_data(numbers, (device, DType::U32)), plan.shape)
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

/// Some queries of one sequence.
struct QueryTile<'a> {
    sequence: &'a Rows,
    /// How many slots the sequences before it have.
    slots_before: usize,
    /// The number of the first query: its row, times the query heads of a group, and which of these it is.
    first: usize,
    count: usize,
    /// The spans that the queries may attend to: those that the sequence has blocks of.
    spans: Range<usize>,
}

/// All queries that share one key/value head, in tiles of up to `most`.
fn tiles(sequences: &[Rows], group: usize, most: usize) -> Vec<QueryTile<'_>> {
    let mut tiles = Vec::new();
    let mut slots_before = 0;
    for sequence in sequences {
        let queries = sequence.rows.len() * group;
        for first in (0..queries).step_by(most) {
            let count = most.min(queries - first);
            let last = sequence.start + (first + count - 1) / group;
            let spans = sequence.first_block * BLOCK / SPAN..last / SPAN + 1;
            tiles.push(QueryTile { sequence, slots_before, first, count, spans });
        }
        slots_before += sequence.slots.len();
    }
    tiles
}
