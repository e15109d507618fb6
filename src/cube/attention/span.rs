//! Attention of a tile of queries to the positions of a span.

use burn_cubecl::cubecl;
use cubecl::prelude::{Tensor as Buffer, *};

use crate::cube::blocks::SlotShape;
use crate::cube::blocks::int8::{integer, key_word, value_word};
use crate::kernels::BLOCK;

/// The positions whose scores are held at once.
pub(super) const SPAN: usize = 4 * BLOCK;

/// What the kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) slot: SlotShape,
    /// How many query heads share a key/value head.
    pub(super) group: usize,
    /// The most queries of a tile.
    pub(super) queries: usize,
    /// How many units share the sum of one number over the positions of a span.
    pub(super) parts: usize,
    pub(super) capped: bool,
}

impl Shape {
    /// The numbers of a partial result: for each query and part the sums, `[queries, parts, head_dim]`, then the
    /// greatest score and the sum of the weights of each query.
    pub(super) fn partial(self) -> usize {
        self.queries * (self.parts * self.slot.head_dim + 2)
    }
}

/// Some queries of one sequence, which share a key/value head.
#[derive(CubeType)]
pub(super) struct Tile {
    /// The row of the first new position of the sequence.
    pub(super) row: usize,
    /// The position of that row.
    pub(super) start: usize,
    /// The number of the first query: its row, times the query heads of a group, and which of these it is.
    pub(super) first: usize,
    /// How many queries there are.
    pub(super) count: usize,
    /// Where the slots of the sequence begin in the plan.
    pub(super) slots: usize,
    /// The number of the block in the first of these slots.
    pub(super) first_block: usize,
    /// How many positions a query attends to at most.
    pub(super) window: usize,
    /// The key/value head.
    pub(super) head: usize,
    #[cube(comptime)]
    pub(super) shape: Shape,
}

/// What the units of a cube share.
#[derive(CubeType)]
pub(super) struct Room {
    /// `[queries, head_dim]`, scaled.
    pub(super) query: Shared<[f32]>,
    /// The scores of a span, then their weights: `[queries, SPAN]`.
    pub(super) scores: Shared<[f32]>,
    /// The greatest score, then the sum of the weights of each query: `tree[query * SPAN / 2]`.
    pub(super) tree: Shared<[f32]>,
}

#[cube]
impl Tile {
    pub(super) fn read(
        plan: &Buffer<u32>,
        at: usize,
        head: usize,
        window: usize,
        #[comptime] shape: Shape,
    ) -> Tile {
        Tile {
            row: plan[at] as usize,
            start: plan[at + 1] as usize,
            first: plan[at + 2] as usize,
            count: plan[at + 3] as usize,
            slots: plan[at + 4] as usize,
            first_block: plan[at + 5] as usize,
            window,
            head,
            shape,
        }
    }

    /// Where a query of the tile begins in `[rows, n_heads, head_dim]`.
    pub(super) fn query(&self, number: usize) -> usize {
        let group = comptime!(self.shape.group);
        let query = self.first + number;
        let heads = (self.row + query / group) * comptime!(self.shape.slot.n_kv_heads) + self.head;
        (heads * group + query % group) * comptime!(self.shape.slot.head_dim)
    }

    /// The end of the positions that a query of the tile attends to.
    pub(super) fn end(&self, number: usize) -> usize {
        self.start + (self.first + number) / comptime!(self.shape.group) + 1
    }

    /// The first of the positions that a query of the tile attends to.
    pub(super) fn begin(&self, number: usize) -> usize {
        let end = self.end(number);
        end - min(end, self.window)
    }

    /// Whether a query attends to a position.
    pub(super) fn sees(&self, number: usize, position: usize) -> bool {
        number < self.count && position >= self.begin(number) && position < self.end(number)
    }

    /// The first span that a query of the tile attends to.
    pub(super) fn first_span(&self) -> usize {
        self.begin(0usize) / SPAN
    }

    /// The end of the spans that a query of the tile attends to.
    pub(super) fn end_span(&self) -> usize {
        (self.end(self.count - 1) - 1) / SPAN + 1
    }

    /// Where the block of a position begins in the slots of a layer: the keys of the head, or from `part` 1
    /// its values.
    pub(super) fn block(&self, plan: &Buffer<u32>, position: usize, part: usize) -> usize {
        let slot = plan[self.slots + position / BLOCK - self.first_block] as usize;
        let heads = (slot * 2 + part) * comptime!(self.shape.slot.n_kv_heads) + self.head;
        heads * comptime!(self.shape.slot.head_numbers())
    }
}

/// Reads and scales the queries of a tile.
#[cube]
pub(super) fn enter<T: Float>(q: &Buffer<T>, tile: &Tile, scale: f32) -> Room {
    let head_dim = comptime!(tile.shape.slot.head_dim);
    let queries = comptime!(tile.shape.queries);
    let mut query = Shared::<[f32]>::new_slice(comptime!(queries * head_dim));
    for i in range_stepped(UNIT_POS as usize, queries * head_dim, CUBE_DIM as usize) {
        let number = min(i / head_dim, tile.count - 1);
        query[i] = f32::cast_from(q[tile.query(number) + i % head_dim]) * scale;
    }
    Room {
        query,
        scores: Shared::<[f32]>::new_slice(comptime!(queries * SPAN)),
        tree: Shared::<[f32]>::new_slice(comptime!(queries * SPAN / 2)),
    }
}

/// The weights of the positions of a span, relative to the greatest score of each query in it, which is left in
/// `tree`. Both are there for all units.
#[cube]
pub(super) fn weigh<K: Numeric>(
    slots: &Buffer<K>,
    plan: &Buffer<u32>,
    room: &mut Room,
    tile: &Tile,
    span: usize,
    softcap: f32,
) {
    let queries = comptime!(tile.shape.queries);
    score(slots, plan, room, tile, span * SPAN, softcap);
    sync_cube();
    find_greatest(room, tile.shape);
    for i in range_stepped(UNIT_POS as usize, queries * SPAN, CUBE_DIM as usize) {
        let number = i / SPAN;
        let weight = (room.scores[i] - room.tree[number * (SPAN / 2)]).exp();
        room.scores[i] = select(tile.sees(number, span * SPAN + i % SPAN), weight, 0.0);
    }
    sync_cube();
}

/// The scores of the positions from `start` on. A unit takes a position, and each key of it serves all queries.
#[cube]
fn score<K: Numeric>(
    slots: &Buffer<K>,
    plan: &Buffer<u32>,
    room: &mut Room,
    tile: &Tile,
    start: usize,
    softcap: f32,
) {
    let head_dim = comptime!(tile.shape.slot.head_dim);
    let queries = comptime!(tile.shape.queries);
    let begin = tile.begin(0usize);
    let end = tile.end(tile.count - 1);
    for i in range_stepped(UNIT_POS as usize, SPAN, CUBE_DIM as usize) {
        let position = start + i;
        let mut products = Array::<f32>::new(queries);
        #[unroll]
        for number in 0..queries {
            products[number] = 0.0;
        }
        if position >= begin && position < end {
            let keys = tile.block(plan, position, 0usize);
            for d in 0..head_dim {
                let key = read_key(slots, keys, d, position % BLOCK, tile.shape.slot);
                #[unroll]
                for number in 0..queries {
                    let query = room.query[number * head_dim + d];
                    products[number] = fma(query, key, products[number]);
                }
            }
        }
        #[unroll]
        for number in 0..queries {
            let mut score = products[number];
            if comptime!(tile.shape.capped) {
                score = softcap * (score / softcap).tanh();
            }
            room.scores[number * SPAN + i] = select(tile.sees(number, position), score, f32::MIN);
        }
    }
}

/// The greatest of the scores of each query.
#[cube]
fn find_greatest(room: &mut Room, #[comptime] shape: Shape) {
    let half = comptime!(SPAN / 2);
    for i in range_stepped(UNIT_POS as usize, shape.queries * half, CUBE_DIM as usize) {
        let at = i / half * SPAN + i % half;
        room.tree[i] = max(room.scores[at], room.scores[at + half]);
    }
    sync_cube();
    #[unroll]
    for step in 1..comptime!(SPAN.ilog2() as usize) {
        let width = comptime!(half >> step);
        for i in range_stepped(UNIT_POS as usize, shape.queries * width, CUBE_DIM as usize) {
            let at = i / width * half + i % width;
            room.tree[at] = max(room.tree[at], room.tree[at + width]);
        }
        sync_cube();
    }
}

/// The sum of the weights of each query. The tree of additions is the same for any number of units.
#[cube]
pub(super) fn add_weights(room: &mut Room, #[comptime] shape: Shape) {
    let half = comptime!(SPAN / 2);
    for i in range_stepped(UNIT_POS as usize, shape.queries * half, CUBE_DIM as usize) {
        let at = i / half * SPAN + i % half;
        room.tree[i] = room.scores[at] + room.scores[at + half];
    }
    sync_cube();
    #[unroll]
    for step in 1..comptime!(SPAN.ilog2() as usize) {
        let width = comptime!(half >> step);
        for i in range_stepped(UNIT_POS as usize, shape.queries * width, CUBE_DIM as usize) {
            let at = i / width * half + i % width;
            room.tree[at] += room.tree[at + width];
        }
        sync_cube();
    }
}

/// The values of a span, times the weights: number `i` of `[queries, parts, head_dim]`. Each part takes each
/// `parts`-th position.
#[cube]
pub(super) fn mix<K: Numeric>(
    slots: &Buffer<K>,
    plan: &Buffer<u32>,
    weights: &Shared<[f32]>,
    tile: &Tile,
    span: usize,
    i: usize,
) -> f32 {
    let head_dim = comptime!(tile.shape.slot.head_dim);
    let parts = comptime!(tile.shape.parts);
    let number = i / (parts * head_dim);
    let part = i / head_dim % parts;
    let start = span * SPAN;
    let begin = max(tile.begin(number), start);
    let end = min(tile.end(number), start + SPAN);
    let mut sum = 0.0f32;
    // What a query does not attend to may be anything, so a weight of 0 does not hide it.
    if begin < end {
        for block in begin / BLOCK..(end - 1) / BLOCK + 1 {
            let from = max(begin, block * BLOCK);
            let to = min(end, (block + 1) * BLOCK);
            let values = tile.block(plan, from, 1usize);
            // The first position from there on that is one of this part: 32 is a multiple of `parts`.
            let own = from + (part + parts - from % parts) % parts;
            for position in range_stepped(own, to, parts) {
                let weight = weights[number * SPAN + position - start];
                let at = position % BLOCK;
                let value = read_value(slots, values, i % head_dim, at, tile.shape.slot);
                sum = fma(weight, value, sum);
            }
        }
    }
    sum
}

/// Number `d` of the key at a position of the block whose keys begin at `keys`.
#[cube]
fn read_key<K: Numeric>(
    slots: &Buffer<K>,
    keys: usize,
    d: usize,
    position: usize,
    #[comptime] slot: SlotShape,
) -> f32 {
    if comptime!(slot.int8) {
        let (word, scale) = key_word(d, position, slot);
        let scale = f32::reinterpret(u32::cast_from(slots[keys + scale]));
        scale * integer(u32::cast_from(slots[keys + word]), d as u32 % 4)
    } else {
        f32::cast_from(slots[keys + d * BLOCK + position])
    }
}

/// Number `d` of the value at a position of the block whose values begin at `values`.
#[cube]
fn read_value<K: Numeric>(
    slots: &Buffer<K>,
    values: usize,
    d: usize,
    position: usize,
    #[comptime] slot: SlotShape,
) -> f32 {
    if comptime!(slot.int8) {
        let (word, scale) = value_word(d, position, slot);
        let scale = f32::reinterpret(u32::cast_from(slots[values + scale]));
        scale * integer(u32::cast_from(slots[values + word]), d as u32 % 4)
    } else {
        f32::cast_from(slots[values + position * comptime!(slot.head_dim) + d])
    }
}
