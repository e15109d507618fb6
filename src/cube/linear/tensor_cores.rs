//! A product with weights in 16 bits, where a device multiplies small matrices in one instruction.
//!
//! The inputs of a panel are its steps, 32 at a time; 8 slices follow each other, each of as many steps. Within one, an instruction adds to the sum of the one
//! before it, and the sums of the slices are added in order. For few rows the slices of a panel are computed by
//! as many planes, and for many rows by one after the other, which then takes more rows. Instructions and order
//! are the same, so a row has the same bits alone and among others.

use burn::tensor::DType;
use burn_cubecl::cubecl;
use burn_cubecl::cubecl::client::Client;
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::tensor::CubeTensor;

use super::{Matrices, Outputs, write};
use crate::cube::element;
use crate::cube::tensor_cores::{
    PAIRS, PLANE, ROWS, has_instruction, inputs_of, multiply, output_of,
};
use crate::kernels::{GROUP, LANES, PanelFormat, Precision};

/// Of the inputs of a row.
const SLICES: usize = 8;
/// The planes of a cube.
const PLANES: usize = 8;
/// Up to so many rows, each slice has a plane.
const FEW_ROWS: usize = 64;
/// How many steps of a slice are loaded before the first is multiplied, where there are few rows: a device waits
/// for their weights.
const AHEAD: usize = 2;
/// With fewer cubes than this, each takes fewer rows.
const FEW_CUBES: usize = 192;
/// How many planes of a cube have other rows, where there are many. The others have other panels.
const DOWN: usize = 2;
/// The most cubes along an axis.
const MOST_CUBES: usize = 65_535;

/// Whether the device has the instruction for these, and the matrices are stored for it.
pub(super) fn can_multiply(client: &Client, dtype: DType, matrices: &Matrices) -> bool {
    let is_stored = match dtype {
        DType::F16 => matrices.format == PanelFormat::Dense(Precision::F16),
        DType::BF16 => matrices.format == PanelFormat::Dense(Precision::Bf16),
        _ => false,
    };
    is_stored && matrices.n_in.is_multiple_of(GROUP) && has_instruction(client, dtype)
}

/// `x` is `[rows, n_in]`.
pub(super) fn launch(
    x: CubeTensor,
    words: CubeTensor,
    y: CubeTensor,
    rows: usize,
    matrices: &Matrices,
    outputs: &Outputs,
) {
    let client = x.client.clone();
    let is_sliced = rows <= FEW_ROWS;
    let panels = outputs.panels;
    let (across, down, tiles) = if is_sliced {
        (panels, 1, rows.div_ceil(ROWS).next_power_of_two())
    } else {
        let across = panels.div_ceil(PLANES / DOWN);
        let down = |tiles: usize| rows.div_ceil(DOWN * tiles * ROWS);
        let tiles = if across * down(4) < FEW_CUBES { 2 } else { 4 };
        (across, down(tiles), tiles)
    };
    let wide = across.min(MOST_CUBES);
    let count = CubeCount::new_3d(wide as u32, down as u32, across.div_ceil(wide) as u32);
    let [n_outs, starts] = outputs.args();
    let dtype = element(&x);
    // SAFETY: the kernel reads rows below `rows`, inputs below `n_in` and panels of these matrices, and
    // writes outputs below those of each matrix.
    unsafe {
        products::launch_unchecked(
            &client,
            count,
            CubeDim::new_1d((PLANES * PLANE) as u32),
            x.into_buffer_arg(),
            words.into_buffer_arg(),
            y.into_buffer_arg(),
            rows,
            matrices.n_in,
            outputs.first_panel,
            panels,
            SLICES,
            n_outs,
            starts,
            tiles,
            is_sliced,
            dtype,
        );
    }
}

/// What a plane computes, and where its lane begins.
#[derive(CubeType)]
struct Place {
    /// Counted from the first panel of the launch.
    panel: usize,
    first_row: usize,
    /// Where the two rows of each tile begin in the inputs, for this lane: the rows of an instruction are 8 apart.
    rows: Array<usize>,
    /// Where the weights of its inputs and outputs begin.
    weights: usize,
}

/// `x` is `[rows, n_in]`, and `y` has the rows of each matrix from its start on. A plane takes a panel and `tiles`
/// times 16 rows; if `sliced`, it takes a slice of these, and otherwise all.
#[cube(launch_unchecked)]
fn products<F: Float>(
    x: &[Vector<F, Const<8>>],
    weights: &[Vector<F, Const<4>>],
    y: &mut [F],
    rows: usize,
    n_in: usize,
    first_panel: usize,
    panels: usize,
    slices: usize,
    n_outs: &Sequence<usize>,
    starts: &Sequence<usize>,
    #[comptime] tiles: usize,
    #[comptime] sliced: bool,
    #[define(F)] _dtype: ElemType,
) {
    let (plane, lane) = (UNIT_POS as usize / PLANE, UNIT_POS as usize % PLANE);
    let across = CUBE_POS_Z as usize * CUBE_COUNT_X as usize + CUBE_POS_X as usize;
    let panels_of_cube = comptime!(if sliced { 1 } else { PLANES / DOWN });
    let panel = across * panels_of_cube + plane % panels_of_cube;
    if panel >= panels {
        terminate!();
    }
    let down = if comptime!(sliced) {
        0usize.runtime()
    } else {
        CUBE_POS_Y as usize * DOWN + plane / panels_of_cube
    };
    let first_row = down * comptime!(tiles * ROWS);
    let mut lane_rows = Array::<usize>::new(comptime!(2 * tiles));
    #[unroll]
    for i in 0..comptime!(2 * tiles) {
        let row = min(first_row + comptime!(i * ROWS / 2) + lane / 4, rows - 1);
        lane_rows[i] = row * (n_in / 8) + lane % 4;
    }
    let first_input = (first_panel + panel) * n_in + lane % 4 * 8;
    let place = Place {
        panel,
        first_row,
        rows: lane_rows,
        weights: first_input * (LANES / 4) + lane / 4,
    };
    if comptime!(sliced) {
        let ahead = comptime!(if tiles <= 2 { AHEAD } else { 1 });
        let sums = slice_sums::<F>(x, weights, &place, n_in, plane, tiles, ahead);
        add_slices::<F>(y, &sums, &place, rows, n_outs, starts, tiles);
    } else {
        let mut totals = Array::<Vector<f32, Const<2>>>::new(comptime!(tiles * PAIRS));
        // An argument, since a compiler would write eight loops for a constant, with registers for all.
        for slice in 0..slices {
            let sums = slice_sums::<F>(x, weights, &place, n_in, slice, tiles, 1usize);
            #[unroll]
            for i in 0..comptime!(tiles * PAIRS) {
                totals[i] += sums[i];
            }
        }
        #[unroll]
        for i in 0..comptime!(tiles * PAIRS) {
            let tile = comptime!(i / PAIRS);
            #[unroll]
            for number in 0..2 {
                let at = comptime!(i % PAIRS * 2 + number) * PLANE + lane;
                write_sum::<F>(
                    y,
                    totals[i].extract(number),
                    &place,
                    tile,
                    at,
                    rows,
                    n_outs,
                    starts,
                );
            }
        }
    }
}

/// The sums of a slice over a panel for 16 rows of each tile: `[tiles][PAIRS]` pairs, those of a lane.
#[cube]
fn slice_sums<F: Float>(
    x: &[Vector<F, Const<8>>],
    weights: &[Vector<F, Const<4>>],
    place: &Place,
    n_in: usize,
    slice: usize,
    #[comptime] tiles: usize,
    #[comptime] ahead: usize,
) -> Array<Vector<f32, Const<2>>> {
    let mut sums = Array::<Vector<f32, Const<2>>>::new(comptime!(tiles * PAIRS));
    let steps = n_in / GROUP;
    let steps_of_slice = steps.div_ceil(SLICES);
    let first = min(slice * steps_of_slice, steps);
    let count = min(steps_of_slice, steps - first);
    for part in 0..count / ahead {
        add_steps(x, weights, place, first + part * ahead, &mut sums, tiles, ahead);
    }
    if comptime!(ahead > 1) {
        for step in first + count / ahead * ahead..first + count {
            add_steps(x, weights, place, step, &mut sums, tiles, 1usize);
        }
    }
    sums
}

/// Adds the products of `count` steps, which are all loaded before the first is multiplied.
#[cube]
fn add_steps<F: Float>(
    x: &[Vector<F, Const<8>>],
    weights: &[Vector<F, Const<4>>],
    place: &Place,
    step: usize,
    sums: &mut Array<Vector<f32, Const<2>>>,
    #[comptime] tiles: usize,
    #[comptime] count: usize,
) {
    // 4 outputs at each of 8 inputs.
    let mut loaded = Array::<Vector<F, Const<4>>>::new(comptime!(8 * count));
    // These 8 inputs of two rows of each tile.
    let mut inputs = Array::<Vector<F, Const<8>>>::new(comptime!(2 * tiles * count));
    #[unroll]
    for i in 0..comptime!(8 * count) {
        let input = step * GROUP + comptime!(i / 8 * GROUP + i % 8);
        loaded[i] = weights[place.weights + input * (LANES / 4)];
    }
    #[unroll]
    for i in 0..comptime!(2 * tiles * count) {
        let (row, later) = comptime!((i % (2 * tiles), i / (2 * tiles)));
        inputs[i] = x[place.rows[row] + (step + later) * (GROUP / 8)];
    }
    #[unroll]
    for half in 0..comptime!(2 * count) {
        #[unroll]
        for tile in 0..tiles {
            let at = comptime!(half / 2 * 2 * tiles + 2 * tile);
            let a = inputs_of(inputs[at], inputs[comptime!(at + 1)], comptime!(half % 2));
            multiply(&a, &loaded, half, comptime!(tile * PAIRS), sums);
        }
    }
}

/// Adds the sums of the slices, of which each plane has one, in order, and writes them.
#[cube]
fn add_slices<F: Float>(
    y: &mut [F],
    sums: &Array<Vector<f32, Const<2>>>,
    place: &Place,
    rows: usize,
    n_outs: &Sequence<usize>,
    starts: &Sequence<usize>,
    #[comptime] tiles: usize,
) {
    let numbers = comptime!(ROWS * LANES);
    let (slice, lane) = (UNIT_POS as usize / PLANE, UNIT_POS as usize % PLANE);
    // `[SLICES][2 * PAIRS][PLANE]`
    let mut partial = Shared::<[f32]>::new_slice(comptime!(SLICES * numbers));
    #[unroll]
    for tile in 0..tiles {
        #[unroll]
        for i in 0..comptime!(2 * PAIRS) {
            let sum = sums[comptime!(tile * PAIRS + i / 2)].extract(comptime!(i % 2));
            partial[slice * numbers + comptime!(i * PLANE) + lane] = sum;
        }
        sync_cube();
        for at in range_stepped(UNIT_POS as usize, numbers, comptime!(PLANES * PLANE)) {
            let mut total = 0.0f32;
            #[unroll]
            for slice in 0..SLICES {
                total += partial[comptime!(slice * numbers) + at];
            }
            write_sum::<F>(y, total, place, tile, at, rows, n_outs, starts);
        }
        sync_cube();
    }
}

/// Writes a sum to its place: number `at / 32` of lane `at % 32`, of the rows of a tile.
#[cube]
fn write_sum<F: Float>(
    y: &mut [F],
    sum: f32,
    place: &Place,
    #[comptime] tile: usize,
    at: usize,
    rows: usize,
    n_outs: &Sequence<usize>,
    starts: &Sequence<usize>,
) {
    let (number, lane) = (at / PLANE, at % PLANE);
    let row = place.first_row + comptime!(tile * ROWS) + lane / 4 + number / 2 % 2 * 8;
    let output = place.panel * LANES + output_of(lane % 4, number / 4, number % 2);
    if row < rows {
        write::<F>(y, sum, row, output, n_outs, starts);
    }
}
