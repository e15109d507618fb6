//! The kernels of attention over blocks.

use burn_cubecl::cubecl;
use cubecl::prelude::{Tensor as Buffer, *};

use super::plan::{NO_TILE, TILE};
use super::span::{SPAN, Shape, Tile, add_weights, enter, mix, weigh};
use crate::kernels::BLOCK;

/// A cube takes one tile and one key/value head, and all spans in order. `tiles_at` is where the tiles begin in
/// the plan.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn attend_whole<T: Float, K: Numeric>(
    q: &Buffer<T>,
    slots: &Buffer<K>,
    plan: &Buffer<u32>,
    sinks: ComptimeOption<&Buffer<f32>>,
    out: &mut Buffer<T>,
    tiles_at: usize,
    cubes: usize,
    scale: f32,
    softcap: f32,
    window: usize,
    #[comptime] shape: Shape,
    #[define(T, K)] _elements: [ElemType; 2],
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let n_kv_heads = comptime!(shape.slot.n_kv_heads);
    let head_dim = comptime!(shape.slot.head_dim);
    let (queries, parts) = comptime!((shape.queries, shape.parts));
    let at = tiles_at + CUBE_POS / n_kv_heads * TILE;
    let tile = Tile::read(plan, at, CUBE_POS % n_kv_heads, window, shape);
    let mut room = enter(q, &tile, scale);
    // For each query the greatest score so far, and the sums of weights and values relative to it.
    let mut greatest = Shared::<[f32]>::new_slice(queries);
    let mut total = Shared::<[f32]>::new_slice(queries);
    let mut sums = Shared::<[f32]>::new_slice(comptime!(queries * parts * head_dim));
    // What the sums so far, and those of a span, are multiplied by.
    let mut factor = Shared::<[f32]>::new_slice(queries);
    let mut span_factor = Shared::<[f32]>::new_slice(queries);
    let unit = UNIT_POS as usize;
    let units = CUBE_DIM as usize;
    for i in range_stepped(unit, queries * parts * head_dim, units) {
        sums[i] = 0.0;
    }
    for i in range_stepped(unit, queries, units) {
        greatest[i] = f32::MIN;
        total[i] = 0.0;
    }
    sync_cube();

    // ANCHOR: spans
    for span in tile.first_span()..tile.end_span() {
        weigh(slots, plan, &mut room, &tile, span, softcap);
        for i in range_stepped(unit, queries, units) {
            let of_span = room.tree[i * (SPAN / 2)];
            let new = max(greatest[i], of_span);
            factor[i] = (greatest[i] - new).exp();
            span_factor[i] = (of_span - new).exp();
            greatest[i] = new;
        }
        sync_cube();
        add_weights(&mut room, shape);
        for i in range_stepped(unit, queries, units) {
            total[i] = fma(total[i], factor[i], room.tree[i * (SPAN / 2)] * span_factor[i]);
        }
        for i in range_stepped(unit, tile.count * parts * head_dim, units) {
            let number = i / (parts * head_dim);
            let sum = mix(slots, plan, &room.scores, &tile, span, i);
            sums[i] = fma(sums[i], factor[number], sum * span_factor[number]);
        }
        sync_cube();
    }
    // ANCHOR_END: spans

    for i in range_stepped(unit, tile.count, units) {
        total[i] += sink_weight(sinks, &tile, i, greatest[i]);
    }
    sync_cube();
    leave(out, &tile, &sums, &total);
}

/// What a query gives to the sink of its head, relative to its greatest score: nothing where heads have none.
#[cube]
pub(super) fn sink_weight(
    sinks: ComptimeOption<&Buffer<f32>>,
    tile: &Tile,
    number: usize,
    greatest: f32,
) -> f32 {
    /// Beyond it `exp` is infinite, which shaders may take for any number.
    const MOST: f32 = 80.0;
    let heads = comptime!(tile.shape.slot.n_kv_heads * tile.shape.group);
    let head = tile.query(number) / comptime!(tile.shape.slot.head_dim) % heads;
    #[comptime]
    let weight = match sinks {
        ComptimeOption::Some(sinks) => f32::min(sinks[head] - greatest, MOST).exp(),
        ComptimeOption::None => 0.0f32,
    };
    weight
}

/// Writes what the queries of a tile take up: the parts of their sums together, divided by their weights.
#[cube]
fn leave<T: Float>(out: &mut Buffer<T>, tile: &Tile, sums: &Shared<[f32]>, total: &Shared<[f32]>) {
    let head_dim = comptime!(tile.shape.slot.head_dim);
    let parts = comptime!(tile.shape.parts);
    for i in range_stepped(UNIT_POS as usize, tile.count * head_dim, CUBE_DIM as usize) {
        let number = i / head_dim;
        let mut sum = 0.0f32;
        for part in 0..parts {
            sum += sums[(number * parts + part) * head_dim + i % head_dim];
        }
        out[tile.query(number) + i % head_dim] = T::cast_from(sum / total[number]);
    }
}

/// A cube takes one tile, one key/value head and one span, and leaves what [`merge`] adds up: `spans_at` is
/// where the plan has the tile and the span of each.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn attend_span<T: Float, K: Numeric>(
    q: &Buffer<T>,
    slots: &Buffer<K>,
    plan: &Buffer<u32>,
    partials: &mut Buffer<f32>,
    tiles_at: usize,
    spans_at: usize,
    cubes: usize,
    scale: f32,
    softcap: f32,
    window: usize,
    #[comptime] shape: Shape,
    #[define(T, K)] _elements: [ElemType; 2],
) {
    if CUBE_POS >= cubes {
        terminate!();
    }
    let n_kv_heads = comptime!(shape.slot.n_kv_heads);
    let head_dim = comptime!(shape.slot.head_dim);
    let (queries, parts) = comptime!((shape.queries, shape.parts));
    let pair = spans_at + CUBE_POS / n_kv_heads * 2;
    if plan[pair] == NO_TILE {
        terminate!();
    }
    let at = tiles_at + plan[pair] as usize * TILE;
    let span = plan[pair + 1] as usize;
    let tile = Tile::read(plan, at, CUBE_POS % n_kv_heads, window, shape);
    if span < tile.first_span() {
        terminate!();
    }
    let mut room = enter(q, &tile, scale);
    sync_cube();
    let partial = CUBE_POS * comptime!(shape.partial());
    let maxima = partial + queries * parts * head_dim;
    let unit = UNIT_POS as usize;
    let units = CUBE_DIM as usize;
    weigh(slots, plan, &mut room, &tile, span, softcap);
    for i in range_stepped(unit, queries, units) {
        partials[maxima + i] = room.tree[i * (SPAN / 2)];
    }
    sync_cube();
    add_weights(&mut room, shape);
    for i in range_stepped(unit, queries, units) {
        partials[maxima + queries + i] = room.tree[i * (SPAN / 2)];
    }
    for i in range_stepped(unit, tile.count * parts * head_dim, units) {
        partials[partial + i] = mix(slots, plan, &room.scores, &tile, span, i);
    }
}

/// Adds up what [`attend_span`] has left, in the order of the spans and as [`attend_whole`] does. A unit takes a
/// number of the queries of a tile.
#[cube(launch_unchecked, address_type = "dynamic")]
pub(super) fn merge<T: Float>(
    partials: &Buffer<f32>,
    plan: &Buffer<u32>,
    sinks: ComptimeOption<&Buffer<f32>>,
    out: &mut Buffer<T>,
    tiles_at: usize,
    numbers: usize,
    window: usize,
    #[comptime] shape: Shape,
    #[define(T)] _element: ElemType,
) {
    if ABSOLUTE_POS >= numbers {
        terminate!();
    }
    let n_kv_heads = comptime!(shape.slot.n_kv_heads);
    let head_dim = comptime!(shape.slot.head_dim);
    let (queries, parts) = comptime!((shape.queries, shape.parts));
    let d = ABSOLUTE_POS % head_dim;
    let number = ABSOLUTE_POS / head_dim % queries;
    let pair = ABSOLUTE_POS / (head_dim * queries);
    let at = tiles_at + pair / n_kv_heads * TILE;
    let tile = Tile::read(plan, at, pair % n_kv_heads, window, shape);
    if number >= tile.count {
        terminate!();
    }
    // The partial results of the tile begin at that of the first span that the sequence has blocks of.
    let first = plan[at + 6] as usize;
    let first_span = tile.first_block * BLOCK / SPAN;
    let mut greatest = f32::new(f32::MIN);
    let mut total = 0.0f32;
    let mut sums = Array::<f32>::new(parts);
    #[unroll]
    for part in 0..parts {
        sums[part] = 0.0;
    }
    for span in tile.first_span()..tile.end_span() {
        let cube = (first + span - first_span) * n_kv_heads + tile.head;
        let partial = cube * comptime!(shape.partial());
        let maximum = partial + queries * parts * head_dim + number;
        let of_span = partials[maximum];
        let new = max(greatest, of_span);
        let factor = (greatest - new).exp();
        let span_factor = (of_span - new).exp();
        greatest = new;
        total = fma(total, factor, partials[maximum + queries] * span_factor);
        #[unroll]
        for part in 0..parts {
            let sum = partials[partial + (number * parts + part) * head_dim + d];
            sums[part] = fma(sums[part], factor, sum * span_factor);
        }
    }
    total += sink_weight(sinks, &tile, number, greatest);
    let mut sum = 0.0f32;
    #[unroll]
    for part in 0..parts {
        sum += sums[part];
    }
    out[tile.query(number) + d] = T::cast_from(sum / total);
}
