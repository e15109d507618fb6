//! Causal attention over blocks, for all sequences of a pass together.
//!
//! A cube takes a few queries that share a key/value head, so that each key and value that it reads
//! serves all of them: the query heads of a group at one position, then at the next. It goes through the
//! positions in spans, and keeps a running softmax as the kernel of the CPU does (Milakov and
//! Gimelshein, arXiv 1805.02867; Dao et al., FlashAttention, arXiv 2205.14135). Where there are few queries,
//! as in decoding, each cube takes one span, and a second launch merges what they found, in order (Dao et al.,
//! Flash-Decoding, 2023).
//!
//! Spans begin at the same positions in every sequence, and within one the order of the additions is
//! fixed, as is that in which they are merged. So the bits of a row depend on its own sequence only: not on
//! the batch, not on how the sequence was split into passes, and not on how many units a cube has.

mod kernel;
mod plan;
mod span;
mod tensor_cores;

use burn::tensor::{DType, Device, Tensor};
use burn_cubecl::cubecl::calculate_cube_count_elemwise;
use burn_cubecl::cubecl::prelude::{CubeCount, CubeDim};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;

use super::blocks::{SlotShape, slot_element};
use super::tensor_cores::PLANE;
use super::{
    address_type, client, element, empty, empty_like, from_cube, into_cube, one_unit_each,
};
use crate::kernels::{BLOCK, Scoring};
use plan::TILE;
pub(crate) use plan::{Plan, PlanData, PlanShape, Rows};
use span::{SPAN, Shape};
use tensor_cores::PLANES;

/// The units of a cube, where the device has so many: one for each position of a span.
const UNITS: u32 = SPAN as u32;
/// The most queries that a cube takes.
const MOST_QUERIES: usize = 4;
/// What a kernel may take of the memory that the units of a cube share: what WebGPU has at least, in
/// numbers.
const SHARED: usize = 16 * 1024 / 4;

/// How scores are made, and where the plan has what.
struct Launch {
    shape: Shape,
    scoring: Scoring<'static>,
    /// In f32, `[n_heads]`, where heads have sinks.
    sinks: Option<CubeTensor>,
    /// Where the tiles begin in the numbers of the plan.
    tiles_at: usize,
    tiles: usize,
    tensor_cores: bool,
}

/// Whether the kernel has room for heads of this size.
pub(crate) fn fits(head_dim: usize) -> bool {
    most_queries(head_dim) > 0
}

/// How many queries of this size have room in the memory that units share.
fn most_queries(head_dim: usize) -> usize {
    let numbers = head_dim + SPAN + SPAN / 2 + parts(head_dim) * head_dim + 4;
    (SHARED / numbers).min(MOST_QUERIES)
}

/// How many units share the sum of one number: as many as leave no unit idle, and as are a power of two.
fn parts(head_dim: usize) -> usize {
    let parts = (UNITS as usize / head_dim).clamp(1, BLOCK);
    1 << parts.ilog2()
}

/// Whether the kernel for tensor cores takes queries of this type, and keys and values as they are stored.
pub(crate) fn on_tensor_cores(
    device: &Device,
    queries: DType,
    stored: DType,
    slot: SlotShape,
) -> bool {
    let can_attend = |client| tensor_cores::can_attend(&client, queries, stored, slot);
    client(device).is_some_and(can_attend)
}

/// Attention of the queries, `[rows, n_heads * head_dim]`, to the keys and values in the slots of a layer.
/// Returns the shape of `q`. `sinks` are `[n_heads]`, where heads have them; those of `scoring` are of the
/// CPU.
pub(crate) fn attend(
    q: Tensor<2>,
    slots: &Tensor<1>,
    plan: &Plan,
    slot: SlotShape,
    scoring: Scoring<'_>,
    sinks: Option<Tensor<1>>,
) -> Tensor<2> {
    let shape = Shape {
        slot,
        group: plan.shape.group,
        queries: plan.shape.queries,
        parts: if plan.shape.tensor_cores {
            1
        } else {
            parts(slot.head_dim)
        },
        capped: scoring.softcap.is_some(),
    };
    let PlanShape { rows: tiles_at, tiles, spans, tensor_cores, .. } = plan.shape;
    let launch = Launch {
        shape,
        scoring: Scoring { sinks: None, ..scoring },
        sinks: sinks.map(|sinks| into_cube(sinks.cast(DType::F32))),
        tiles_at,
        tiles,
        tensor_cores,
    };
    let (q, slots) = (into_contiguous(into_cube(q)), into_cube(slots.clone()));
    let plan = into_cube(plan.numbers.clone());
    from_cube(match spans {
        None => attend_whole(q, slots, plan, launch),
        Some(spans) => attend_spans(q, slots, plan, launch, spans),
    })
}

fn attend_whole(q: CubeTensor, slots: CubeTensor, plan: CubeTensor, launch: Launch) -> CubeTensor {
    let Launch { shape, scoring, sinks, tiles_at, tiles, tensor_cores } = launch;
    let out = empty_like(&q);
    let (cubes, planes) = if tensor_cores {
        (tiles.div_ceil(PLANES) * shape.slot.n_kv_heads, PLANES)
    } else {
        (tiles * shape.slot.n_kv_heads, 0)
    };
    let (count, dim) = cubes_of(&q, cubes, planes);
    let (of_slots, of_queries) = (slot_element(&slots, shape.slot), element(&q));
    let address = address_type([&q, &slots]);
    let [x, slots] = [&q, &slots].map(|tensor| tensor.clone().into_tensor_arg());
    let sinks = sinks.map(CubeTensor::into_tensor_arg).into();
    let (plan, y) = (plan.into_tensor_arg(), out.clone().into_tensor_arg());
    let softcap = scoring.softcap.unwrap_or(0.0);
    let (scale, window) = (scoring.scale, window(scoring));
    // SAFETY: the tiles and slots of a plan are those of the queries and of the layer.
    unsafe {
        if tensor_cores {
            tensor_cores::whole::launch_unchecked(
                &q.client, count, dim, address, x, slots, plan, sinks, y, tiles_at, tiles, scale,
                softcap, window, shape, of_queries,
            );
        } else {
            kernel::attend_whole::launch_unchecked(
                &q.client,
                count,
                dim,
                address,
                x,
                slots,
                plan,
                sinks,
                y,
                tiles_at,
                cubes,
                scale,
                softcap,
                window,
                shape,
                [of_queries, of_slots],
            );
        }
    }
    out
}

/// As [`attend_whole`], where `spans` spans of tiles are computed by a cube each, and then merged.
fn attend_spans(
    q: CubeTensor,
    slots: CubeTensor,
    plan: CubeTensor,
    launch: Launch,
    spans: usize,
) -> CubeTensor {
    let Launch { shape, scoring, sinks, tiles_at, tiles, tensor_cores } = launch;
    let out = empty_like(&q);
    let cubes = spans * shape.slot.n_kv_heads;
    let partials = empty(&q, [cubes * shape.partial()], DType::F32);
    let (count, dim) = cubes_of(&q, cubes, usize::from(tensor_cores));
    let (of_slots, of_queries) = (slot_element(&slots, shape.slot), element(&q));
    let address = address_type([&q, &slots, &partials]);
    let [x, slots] = [&q, &slots].map(|tensor| tensor.clone().into_tensor_arg());
    let [plan_arg, found] = [&plan, &partials].map(|tensor| tensor.clone().into_tensor_arg());
    let spans_at = tiles_at + tiles * TILE;
    let (scale, softcap) = (scoring.scale, scoring.softcap.unwrap_or(0.0));
    // SAFETY: as in `attend_whole`, and each span of a tile has its place in `partials`.
    unsafe {
        if tensor_cores {
            tensor_cores::span::launch_unchecked(
                &q.client,
                count,
                dim,
                address,
                x,
                slots,
                plan_arg,
                found,
                tiles_at,
                spans_at,
                cubes,
                scale,
                softcap,
                window(scoring),
                shape,
                of_queries,
            );
        } else {
            kernel::attend_span::launch_unchecked(
                &q.client,
                count,
                dim,
                address,
                x,
                slots,
                plan_arg,
                found,
                tiles_at,
                spans_at,
                cubes,
                scale,
                softcap,
                window(scoring),
                shape,
                [of_queries, of_slots],
            );
        }
    }
    let numbers = tiles * shape.slot.n_kv_heads * shape.queries * shape.slot.head_dim;
    let (count, dim) = one_unit_each(&out, numbers);
    // SAFETY: as above.
    unsafe {
        kernel::merge::launch_unchecked(
            &out.client,
            count,
            dim,
            address_type([&out, &partials]),
            partials.into_tensor_arg(),
            plan.into_tensor_arg(),
            sinks.map(CubeTensor::into_tensor_arg).into(),
            out.clone().into_tensor_arg(),
            tiles_at,
            numbers,
            window(scoring),
            shape,
            element(&out),
        );
    }
    out
}

/// The shape of a launch of so many cubes, each of so many `planes` on tensor cores. On a CPU, where units are threads
/// and cubes are what is shared out, a cube has one unit.
fn cubes_of(tensor: &CubeTensor, cubes: usize, planes: usize) -> (CubeCount, CubeDim) {
    let hardware = &tensor.client.properties().hardware;
    let units = match hardware.num_cpu_cores {
        Some(_) => 1,
        None if planes > 0 => (planes * PLANE) as u32,
        None => UNITS.min(hardware.max_units_per_cube),
    };
    let dim = CubeDim::new_1d(units);
    (calculate_cube_count_elemwise(&tensor.client, cubes * units as usize, dim), dim)
}

/// How many positions a query attends to, such that adding to it overflows in no kernel.
fn window(scoring: Scoring<'_>) -> usize {
    scoring.window.map_or(i32::MAX as usize, |window| window.min(i32::MAX as usize))
}

#[cfg(test)]
mod tests;
