//! Attention in 16 bits, where a device multiplies small matrices in one instruction.
//!
//! A plane takes a tile of 16 queries. A block of keys, `[head_dim, 32]`, lies in memory as a panel of weights
//! does, and so do its values, `[32, head_dim]`: scores are the products of queries and keys, and what is taken
//! up are the products of weights and values. A lane gets the scores that it needs as weights, so nothing goes
//! through shared memory.
//!
//! Spans and their order are those of the other kernels, and the weights are rounded to 16 bits before they are
//! multiplied.

use burn::tensor::DType;
use burn_cubecl::cubecl;
use cubecl::client::Client;
use cubecl::prelude::{Tensor as Buffer, *};

use super::kernel::sink_weight;
use super::plan::{NO_TILE, TILE};
use super::span::{SPAN, Shape, Tile};
use crate::cube::blocks::SlotShape;
use crate::cube::tensor_cores::{
    PAIRS, PLANE, ROWS, has_instruction, inputs_of, multiply, output_of, pair,
};
use crate::kernels::BLOCK;

/// The queries of a tile.
pub(super) const QUERIES: usize = ROWS;
/// The largest heads whose sums a lane has registers for.
const LARGEST_HEAD: usize = 128;
/// The planes of a cube that goes through all spans.
pub(super) const PLANES: usize = 4;
/// The blocks of a span.
const BLOCKS: usize = SPAN / BLOCK;

/// Whether the device has the instruction for queries of this type, and keys and values are stored for it.
pub(crate) fn can_attend(client: &Client, queries: DType, stored: DType, slot: SlotShape) -> bool {
    let fits = slot.head_dim.is_multiple_of(BLOCK) && slot.head_dim <= LARGEST_HEAD;
    queries == stored && !slot.int8 && fits && has_instruction(client, queries)
}

/// What a lane knows of its tile: it has two of the queries.
#[derive(CubeType)]
struct Lane {
    tile: Tile,
    /// 0 to 7: one of its queries, and 8 more the other.
    row: usize,
    /// 0 to 3: which of the inputs and outputs are its own.
    quarter: usize,
}

/// What a tile has taken up: for each of the two queries of a lane the greatest score and the sum of the weights
/// relative to it, and `[head_dim / 32][PAIRS]` pairs of sums.
#[derive(CubeType)]
struct Taken {
    greatest: Array<f32>,
    total: Array<f32>,
    sums: Array<Vector<f32, Const<2>>>,
}

/// As [`attend_whole`](super::kernel::attend_whole). A plane takes a tile; those of a cube have neighbouring ones, so
/// that what one of them reads is near when the others need it. The longest come first.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn whole<T: Float>(
    q: &Buffer<Vector<T, Const<8>>>,
    slots: &Buffer<Vector<T, Const<4>>>,
    plan: &Buffer<u32>,
    sinks: ComptimeOption<&Buffer<f32>>,
    out: &mut Buffer<T>,
    tiles_at: usize,
    tiles: usize,
    scale: f32,
    softcap: f32,
    window: usize,
    #[comptime] shape: Shape,
    #[define(T)] _element: ElemType,
) {
    let n_kv_heads = comptime!(shape.slot.n_kv_heads);
    let number = CUBE_POS / n_kv_heads * PLANES + UNIT_POS as usize / PLANE;
    if number >= tiles {
        terminate!();
    }
    let at = tiles_at + (tiles - 1 - number) * TILE;
    let lane = Lane::new(Tile::read(plan, at, CUBE_POS % n_kv_heads, window, shape));
    let queries = lane.queries(q);
    let mut all = Taken::nothing(shape);
    for span in lane.tile.first_span()..lane.tile.end_span() {
        let of_span = take_up::<T>(&queries, slots, plan, &lane, span, scale, softcap);
        #[unroll]
        for c in 0..2usize {
            let new = max(all.greatest[c], of_span.greatest[c]);
            let factor = (all.greatest[c] - new).exp();
            let span_factor = (of_span.greatest[c] - new).exp();
            all.greatest[c] = new;
            all.total[c] = fma(all.total[c], factor, of_span.total[c] * span_factor);
            #[unroll]
            for i in 0..comptime!(shape.slot.head_dim / BLOCK * PAIRS / 2) {
                let at = comptime!(2 * i + c);
                let (sum, more) = (all.sums[at], of_span.sums[at]);
                let first = fma(sum.extract(0usize), factor, more.extract(0usize) * span_factor);
                let second = fma(sum.extract(1usize), factor, more.extract(1usize) * span_factor);
                all.sums[at] = pair(first, second);
            }
        }
    }
    #[unroll]
    for c in 0..2usize {
        let number = lane.row + comptime!(8 * c);
        if number < lane.tile.count {
            let total = all.total[c] + sink_weight(sinks, &lane.tile, number, all.greatest[c]);
            let query = lane.tile.query(number);
            #[unroll]
            for i in 0..comptime!(shape.slot.head_dim / BLOCK * PAIRS) {
                let (at, j) = comptime!((i / 2 * 2 + c, i % 2));
                let d = lane.column(comptime!(at / PAIRS), comptime!(at % PAIRS / 2), j);
                // As `merge` adds its parts, of which there is one.
                let sum = 0.0f32 + all.sums[at].extract(j);
                out[query + d] = T::cast_from(sum / total);
            }
        }
    }
}

/// As [`attend_span`](super::kernel::attend_span). A cube is a plane.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn span<T: Float>(
    q: &Buffer<Vector<T, Const<8>>>,
    slots: &Buffer<Vector<T, Const<4>>>,
    plan: &Buffer<u32>,
    partials: &mut Buffer<f32>,
    tiles_at: usize,
    spans_at: usize,
    cubes: usize,
    scale: f32,
    softcap: f32,
    window: usize,
    #[comptime] shape: Shape,
    #[define(T)] _element: ElemType,
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let n_kv_heads = comptime!(shape.slot.n_kv_heads);
    let head_dim = comptime!(shape.slot.head_dim);
    let span_pair = spans_at + CUBE_POS / n_kv_heads * 2;
    if plan[span_pair] == NO_TILE {
        terminate!();
    }
    let at = tiles_at + plan[span_pair] as usize * TILE;
    let number = plan[span_pair + 1] as usize;
    let lane = Lane::new(Tile::read(plan, at, CUBE_POS % n_kv_heads, window, shape));
    if number < lane.tile.first_span() {
        terminate!();
    }
    let queries = lane.queries(q);
    let taken = take_up::<T>(&queries, slots, plan, &lane, number, scale, softcap);
    let partial = CUBE_POS * comptime!(shape.partial());
    let maxima = partial + comptime!(shape.queries * head_dim);
    #[unroll]
    for c in 0..2usize {
        let number = lane.row + comptime!(8 * c);
        if number < lane.tile.count {
            if lane.quarter == 0 {
                partials[maxima + number] = taken.greatest[c];
                partials[maxima + comptime!(shape.queries) + number] = taken.total[c];
            }
            #[unroll]
            for i in 0..comptime!(head_dim / BLOCK * PAIRS) {
                let (at, j) = comptime!((i / 2 * 2 + c, i % 2));
                let d = lane.column(comptime!(at / PAIRS), comptime!(at % PAIRS / 2), j);
                partials[partial + number * head_dim + d] = taken.sums[at].extract(j);
            }
        }
    }
}

#[cube]
impl Lane {
    fn new(tile: Tile) -> Lane {
        let lane = UNIT_POS as usize % PLANE;
        Lane { tile, row: lane / 4, quarter: lane % 4 }
    }

    /// The number of a column among those of all panels of 32.
    fn column(
        &self,
        #[comptime] panel: usize,
        #[comptime] output: usize,
        #[comptime] j: usize,
    ) -> usize {
        output_of(self.quarter, output, j) + comptime!(panel * BLOCK)
    }

    /// Whether one of its queries attends to a position of the block that begins at `start`.
    fn sees(
        &self,
        start: usize,
        #[comptime] output: usize,
        #[comptime] c: usize,
        #[comptime] j: usize,
    ) -> bool {
        let position = start + self.column(0usize, output, j);
        self.tile.sees(self.row + comptime!(8 * c), position)
    }

    /// A score, of a product.
    fn seen(
        &self,
        product: f32,
        start: usize,
        #[comptime] output: usize,
        #[comptime] c: usize,
        #[comptime] j: usize,
        scale: f32,
        softcap: f32,
    ) -> f32 {
        let mut score = product * scale;
        if comptime!(self.tile.shape.capped) {
            score = softcap * (score / softcap).tanh();
        }
        select(self.sees(start, output, c, j), score, f32::MIN)
    }

    /// A weight, of a score.
    fn weight(
        &self,
        score: f32,
        greatest: f32,
        start: usize,
        #[comptime] output: usize,
        #[comptime] c: usize,
        #[comptime] j: usize,
    ) -> f32 {
        select(self.sees(start, output, c, j), (score - greatest).exp(), 0.0)
    }

    /// Its numbers of its two queries, `[head_dim / 32][2]`.
    fn queries<T: Float>(&self, q: &Buffer<Vector<T, Const<8>>>) -> Array<Vector<T, Const<8>>> {
        let steps = comptime!(self.tile.shape.slot.head_dim / BLOCK);
        let mut queries = Array::<Vector<T, Const<8>>>::new(comptime!(2 * steps));
        #[unroll]
        for c in 0..2usize {
            let number = min(self.row + comptime!(8 * c), self.tile.count - 1);
            let first = self.tile.query(number) / 8 + self.quarter;
            #[unroll]
            for step in 0..steps {
                queries[comptime!(2 * step + c)] = q[first + comptime!(step * BLOCK / 8)];
            }
        }
        queries
    }
}

#[cube]
impl Taken {
    fn nothing(#[comptime] shape: Shape) -> Taken {
        let mut greatest = Array::<f32>::new(2usize);
        #[unroll]
        for c in 0..2usize {
            greatest[c] = f32::new(f32::MIN);
        }
        Taken {
            greatest,
            total: Array::<f32>::new(2usize),
            sums: Array::<Vector<f32, Const<2>>>::new(comptime!(
                shape.slot.head_dim / BLOCK * PAIRS
            )),
        }
    }
}

/// What the queries of a tile take up of a span.
#[cube]
fn take_up<T: Float>(
    queries: &Array<Vector<T, Const<8>>>,
    slots: &Buffer<Vector<T, Const<4>>>,
    plan: &Buffer<u32>,
    lane: &Lane,
    span: usize,
    scale: f32,
    softcap: f32,
) -> Taken {
    let shape = comptime!(lane.tile.shape);
    let head_dim = comptime!(shape.slot.head_dim);
    let begin = lane.tile.begin(0usize);
    let end = lane.tile.end(lane.tile.count - 1);
    let mut taken = Taken::nothing(shape);
    // `[BLOCKS][4 outputs][2 queries]` pairs of scores, then of weights.
    let mut scores = Array::<Vector<f32, Const<2>>>::new(comptime!(BLOCKS * PAIRS));
    #[unroll]
    for block in 0..BLOCKS {
        let start = span * SPAN + comptime!(block * BLOCK);
        if start < end && start + BLOCK > begin {
            let keys = lane.tile.block(plan, start, 0usize) / 4 + lane.row;
            #[unroll]
            for step in 0..comptime!(head_dim / BLOCK) {
                let mut loaded = Array::<Vector<T, Const<4>>>::new(8usize);
                #[unroll]
                for i in 0..8usize {
                    let d = lane.quarter * 8 + comptime!(step * BLOCK + i);
                    loaded[i] = slots[keys + d * (BLOCK / 4)];
                }
                let (one, other) = (queries[comptime!(2 * step)], queries[comptime!(2 * step + 1)]);
                #[unroll]
                for half in 0..2usize {
                    let a = inputs_of(one, other, half);
                    multiply::<T>(&a, &loaded, half, comptime!(block * PAIRS), &mut scores);
                }
            }
        }
        #[unroll]
        for i in 0..PAIRS {
            let (output, c) = comptime!((i / 2, i % 2));
            let at = comptime!(block * PAIRS + i);
            let first =
                lane.seen(scores[at].extract(0usize), start, output, c, 0usize, scale, softcap);
            let second =
                lane.seen(scores[at].extract(1usize), start, output, c, 1usize, scale, softcap);
            scores[at] = pair(first, second);
            taken.greatest[c] = max(taken.greatest[c], max(first, second));
        }
    }
    #[unroll]
    for c in 0..2usize {
        let greatest = taken.greatest[c];
        let greatest = max(greatest, plane_shuffle_xor(greatest, 1u32));
        taken.greatest[c] = max(greatest, plane_shuffle_xor(greatest, 2u32));
    }
    #[unroll]
    for block in 0..BLOCKS {
        let start = span * SPAN + comptime!(block * BLOCK);
        #[unroll]
        for i in 0..PAIRS {
            let (output, c) = comptime!((i / 2, i % 2));
            let at = comptime!(block * PAIRS + i);
            let greatest = taken.greatest[c];
            let first = lane.weight(scores[at].extract(0usize), greatest, start, output, c, 0usize);
            let second =
                lane.weight(scores[at].extract(1usize), greatest, start, output, c, 1usize);
            scores[at] = pair(first, second);
            taken.total[c] += first + second;
        }
        if start < end && start + BLOCK > begin {
            let values = lane.tile.block(plan, start, 1usize) / 4 + lane.row;
            #[unroll]
            for panel in 0..comptime!(head_dim / BLOCK) {
                let mut loaded = Array::<Vector<T, Const<4>>>::new(8usize);
                #[unroll]
                for i in 0..8usize {
                    let position = lane.quarter * 8 + i;
                    // Behind the last position may be anything, and a weight of 0 does not hide it.
                    if start + position < end {
                        let first = values + position * comptime!(head_dim / 4);
                        loaded[i] = slots[first + comptime!(panel * BLOCK / 4)];
                    }
                }
                #[unroll]
                for half in 0..2usize {
                    let mut a = Array::<Vector<T, Const<2>>>::new(4usize);
                    #[unroll]
                    for i in 0..4usize {
                        let first = comptime!(block * PAIRS + i / 2 * 4 + i % 2);
                        let (one, other) = (scores[first], scores[comptime!(first + 2)]);
                        a[i] = pair(
                            T::cast_from(one.extract(half)),
                            T::cast_from(other.extract(half)),
                        );
                    }
                    multiply::<T>(&a, &loaded, half, comptime!(panel * PAIRS), &mut taken.sums);
                }
            }
        }
    }
    #[unroll]
    for c in 0..2usize {
        let total = taken.total[c];
        let total = total + plane_shuffle_xor(total, 1u32);
        taken.total[c] = total + plane_shuffle_xor(total, 2u32);
    }
    taken
}
