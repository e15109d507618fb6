//! A product with weights in 16 bits, where a device multiplies small matrices in one instruction.
//!
//! The inputs of a panel are its steps, 32 at a time; 8 slices follow each other, each of as many steps. Within one, an
//! instruction adds to the sum of the one before it, and the sums of the slices are added in order. For few rows the
//! slices of a panel are computed by as many planes, and for many rows by one after the other, which then takes more
//! rows. Instructions and order are the same, so a row has the same bits alone and among others.
//!
//! A lane loads the next steps before it multiplies one, since memory answers later than a step takes.
//!
//! For few rows, a launch also computes the products with two matrices and what a gate makes of both.

use burn::tensor::DType;
use burn_cubecl::cubecl;
use burn_cubecl::cubecl::client::Client;
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::tensor::CubeTensor;

use super::{Matrices, Outputs, write};
use crate::activation::Activation;
use crate::cube::element;
use crate::cube::gate::gated_number;
use crate::cube::tensor_cores::{
    PAIRS, PLANE, ROWS, has_instruction, inputs_of, multiply, output_of, pair,
};
use crate::kernels::{GROUP, LANES, PanelFormat, Precision};

/// Of the inputs of a row.
const SLICES: usize = 8;
/// The planes of a cube.
const PLANES: usize = 8;
/// Up to so many rows, each slice has a plane.
pub(super) const FEW_ROWS: usize = 64;
/// How many steps are loaded before the first of them is multiplied, where there are many rows.
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

/// `x` is `[rows, n_in]`. With a `gate`, for few rows, `outputs` are of the first of two matrices of one shape,
/// and what is written is its product, activated, times that with the second.
pub(super) fn launch(
    x: CubeTensor,
    words: CubeTensor,
    y: CubeTensor,
    rows: usize,
    matrices: &Matrices,
    outputs: &Outputs,
    gate: Option<Activation>,
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
    // The registers of a lane have room for so many steps.
    let ahead = match (tiles, gate) {
        _ if !is_sliced => AHEAD,
        (1, _) => 3,
        (2, _) | (_, None) => 2,
        (_, Some(_)) => 1,
    };
    let wide = across.min(MOST_CUBES);
    // Cubes that compute at the same time have neighbouring rows: together they read a matrix once.
    let count = CubeCount::new_3d(down as u32, wide as u32, across.div_ceil(wide) as u32);
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
            n_outs,
            starts,
            tiles,
            ahead,
            is_sliced,
            gate,
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
}

/// `x` is `[rows, n_in]`, and `y` has the rows of each matrix from its start on. A plane takes a panel and `tiles`
/// times 16 rows; if `sliced`, it takes a slice of these, and otherwise all. With a `gate`, the panel is that of two
/// matrices.
#[cube(launch_unchecked)]
fn products<F: Float>(
    x: &[Vector<F, Const<8>>],
    weights: &[Vector<F, Const<4>>],
    y: &mut [F],
    rows: usize,
    n_in: usize,
    first_panel: usize,
    panels: usize,
    n_outs: &Sequence<usize>,
    starts: &Sequence<usize>,
    #[comptime] tiles: usize,
    #[comptime] ahead: usize,
    #[comptime] sliced: bool,
    #[comptime] gate: Option<Activation>,
    #[define(F)] _dtype: ElemType,
) {
    let (plane, lane) = (UNIT_POS as usize / PLANE, UNIT_POS as usize % PLANE);
    let across = CUBE_POS_Z as usize * CUBE_COUNT_Y as usize + CUBE_POS_Y as usize;
    let panels_of_cube = comptime!(if sliced { 1 } else { PLANES / DOWN });
    let panel = across * panels_of_cube + plane % panels_of_cube;
    if panel >= panels {
        terminate!();
    }
    let down = if comptime!(sliced) {
        0usize.runtime()
    } else {
        CUBE_POS_X as usize * DOWN + plane / panels_of_cube
    };
    let first_row = down * comptime!(tiles * ROWS);
    let mut lane_rows = Array::<usize>::new(comptime!(2 * tiles));
    #[unroll]
    for i in 0..comptime!(2 * tiles) {
        let row = min(first_row + comptime!(i * ROWS / 2) + lane / 4, rows - 1);
        lane_rows[i] = row * (n_in / 8) + lane % 4;
    }
    let place = Place { panel, first_row, rows: lane_rows };
    // Where the weights of the inputs and outputs of this lane begin.
    let first = ((first_panel + panel) * n_in + lane % 4 * 8) * (LANES / 4) + lane / 4;
    let steps = n_in / GROUP;
    let steps_of_slice = steps.div_ceil(SLICES);
    // What the slices of this lane add up to, where it computes all of them: `[tiles * PAIRS][units]`. The registers
    // are for what is loaded.
    let room = comptime!(if sliced {
        1
    } else {
        tiles * PAIRS * PLANES * PLANE
    });
    let mut totals = Shared::<[Vector<f32, Const<2>>]>::new_slice(room);
    if comptime!(sliced) {
        let begin = min(plane * steps_of_slice, steps);
        let end = min(begin + steps_of_slice, steps);
        let sums = sums_of_steps::<F>(
            x,
            weights,
            first,
            &place,
            begin,
            end,
            steps,
            &mut totals,
            tiles,
            ahead,
            false,
        );
        let mut others = Array::<Vector<f32, Const<2>>>::new(comptime!(tiles * PAIRS));
        if comptime!(gate.is_some()) {
            let second = first + panels * n_in * (LANES / 4);
            others = sums_of_steps::<F>(
                x,
                weights,
                second,
                &place,
                begin,
                end,
                steps,
                &mut totals,
                tiles,
                ahead,
                false,
            );
        }
        add_slices::<F>(y, &sums, &others, &place, rows, n_outs, starts, tiles, gate);
    } else {
        #[unroll]
        for i in 0..comptime!(tiles * PAIRS) {
            totals[UNIT_POS as usize + comptime!(i * PLANES * PLANE)] = pair(0.0f32, 0.0f32);
        }
        let sums = sums_of_steps::<F>(
            x,
            weights,
            first,
            &place,
            0usize.runtime(),
            steps,
            steps_of_slice,
            &mut totals,
            tiles,
            ahead,
            true,
        );
        #[unroll]
        for i in 0..comptime!(tiles * PAIRS) {
            let tile = comptime!(i / PAIRS);
            // The last slice may have fewer steps.
            let total = totals[UNIT_POS as usize + comptime!(i * PLANES * PLANE)] + sums[i];
            #[unroll]
            for number in 0..2 {
                let at = comptime!(i % PAIRS * 2 + number) * PLANE + lane;
                write_sum::<F>(y, total.extract(number), &place, tile, at, rows, n_outs, starts);
            }
        }
    }
}

/// The sums of the steps from `begin` to `end` over the panel whose weights begin at `first_weight`, for 16 rows of each
/// tile: `[tiles][PAIRS]` pairs, those of a lane. If it `keeps_totals`, each time a slice of `steps_of_slice` is
/// complete its sums are added to these, and what is left are the sums of the last.
#[cube]
#[allow(
    clippy::collapsible_if,
    reason = "the outer one is decided when the kernel is compiled"
)]
fn sums_of_steps<F: Float>(
    x: &[Vector<F, Const<8>>],
    weights: &[Vector<F, Const<4>>],
    first_weight: usize,
    place: &Place,
    begin: usize,
    end: usize,
    steps_of_slice: usize,
    totals: &mut Shared<[Vector<f32, Const<2>>]>,
    #[comptime] tiles: usize,
    #[comptime] ahead: usize,
    #[comptime] keeps_totals: bool,
) -> Array<Vector<f32, Const<2>>> {
    let mut sums = Array::<Vector<f32, Const<2>>>::new(comptime!(tiles * PAIRS));
    // 4 outputs at each of 8 inputs, of each step.
    let mut loaded = Array::<Vector<F, Const<4>>>::new(comptime!(8 * ahead));
    // These 8 inputs of two rows of each tile.
    let mut inputs = Array::<Vector<F, Const<8>>>::new(comptime!(2 * tiles * ahead));
    #[unroll]
    for i in 0..ahead {
        if begin + i < end {
            load(x, weights, first_weight, place, begin + i, &mut loaded, &mut inputs, tiles, i);
        }
    }
    let mut end_of_slice = begin + steps_of_slice;
    for part in 0..(end - begin).div_ceil(ahead) {
        #[unroll]
        for i in 0..ahead {
            let step = begin + part * ahead + i;
            if step < end {
                multiply_step::<F>(&loaded, &inputs, &mut sums, tiles, i);
                if step + ahead < end {
                    let next = step + ahead;
                    load(x, weights, first_weight, place, next, &mut loaded, &mut inputs, tiles, i);
                }
                if comptime!(keeps_totals) {
                    if step + 1 == end_of_slice {
                        #[unroll]
                        for at in 0..comptime!(tiles * PAIRS) {
                            totals[UNIT_POS as usize + comptime!(at * PLANES * PLANE)] += sums[at];
                            sums[at] = pair(0.0f32, 0.0f32);
                        }
                        end_of_slice += steps_of_slice;
                    }
                }
            }
        }
    }
    sums
}

/// Loads the weights and inputs of a step to the places of the `i`-th of those that are loaded.
#[cube]
fn load<F: Float>(
    x: &[Vector<F, Const<8>>],
    weights: &[Vector<F, Const<4>>],
    first_weight: usize,
    place: &Place,
    step: usize,
    loaded: &mut Array<Vector<F, Const<4>>>,
    inputs: &mut Array<Vector<F, Const<8>>>,
    #[comptime] tiles: usize,
    #[comptime] i: usize,
) {
    let first = first_weight + step * (GROUP * LANES / 4);
    #[unroll]
    for input in 0..8usize {
        loaded[comptime!(8 * i + input)] = weights[first + comptime!(input * LANES / 4)];
    }
    #[unroll]
    for row in 0..comptime!(2 * tiles) {
        inputs[comptime!(2 * tiles * i + row)] = x[place.rows[row] + step * (GROUP / 8)];
    }
}

/// Adds the products of the `i`-th of the steps that are loaded.
#[cube]
fn multiply_step<F: Float>(
    loaded: &Array<Vector<F, Const<4>>>,
    inputs: &Array<Vector<F, Const<8>>>,
    sums: &mut Array<Vector<f32, Const<2>>>,
    #[comptime] tiles: usize,
    #[comptime] i: usize,
) {
    #[unroll]
    for half in 0..2usize {
        #[unroll]
        for tile in 0..tiles {
            let at = comptime!(2 * tiles * i + 2 * tile);
            let a = inputs_of(inputs[at], inputs[comptime!(at + 1)], half);
            multiply(&a, loaded, comptime!(2 * i + half), comptime!(tile * PAIRS), sums);
        }
    }
}

/// Adds the sums of the slices, of which each plane has one, in order, and writes them. With a `gate`, `others` are
/// those of the second matrix.
#[cube]
fn add_slices<F: Float>(
    y: &mut [F],
    sums: &Array<Vector<f32, Const<2>>>,
    others: &Array<Vector<f32, Const<2>>>,
    place: &Place,
    rows: usize,
    n_outs: &Sequence<usize>,
    starts: &Sequence<usize>,
    #[comptime] tiles: usize,
    #[comptime] gate: Option<Activation>,
) {
    let numbers = comptime!(ROWS * LANES);
    let (slice, lane) = (UNIT_POS as usize / PLANE, UNIT_POS as usize % PLANE);
    let first = slice * numbers + lane;
    // `[SLICES][2 * PAIRS][PLANE]`
    let mut partial = Shared::<[f32]>::new_slice(comptime!(SLICES * numbers));
    let room = comptime!(if gate.is_some() { SLICES * numbers } else { 1 });
    let mut partial_others = Shared::<[f32]>::new_slice(room);
    #[unroll]
    for tile in 0..tiles {
        #[unroll]
        for i in 0..comptime!(2 * PAIRS) {
            let at = comptime!(tile * PAIRS + i / 2);
            let number = comptime!(i % 2);
            partial[first + comptime!(i * PLANE)] = sums[at].extract(number);
            if comptime!(gate.is_some()) {
                partial_others[first + comptime!(i * PLANE)] = others[at].extract(number);
            }
        }
        sync_cube();
        for at in range_stepped(UNIT_POS as usize, numbers, comptime!(PLANES * PLANE)) {
            let total = F::cast_from(total_of(&partial, at));
            let number = match comptime!(gate) {
                Some(gate) => {
                    let other = F::cast_from(total_of(&partial_others, at));
                    f32::cast_from(gated_number::<F>(total, other, gate))
                }
                None => f32::cast_from(total),
            };
            write_sum::<F>(y, number, place, tile, at, rows, n_outs, starts);
        }
        sync_cube();
    }
}

/// Adds a number of all slices, in order.
#[cube]
fn total_of(partial: &Shared<[f32]>, at: usize) -> f32 {
    let mut total = 0.0f32;
    #[unroll]
    for slice in 0..SLICES {
        total += partial[comptime!(slice * ROWS * LANES) + at];
    }
    total
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
