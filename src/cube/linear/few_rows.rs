//! A product for few rows, as in decode: bound by the memory of the weights.
//!
//! A cube computes some columns of words for up to 4 rows. Its units share the slices of these
//! columns: units next to each other read words next to each other, and those that a plane reads at
//! once are whole sectors of memory. Then the sums of the slices meet in shared memory.

use burn_cubecl::cubecl;
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::tensor::CubeTensor;

use super::{Matrices, Outputs, SLICES, computes_on_host, write};
use crate::cube::element;
use crate::cube::packing::{Packing, group_start, min_at, scale_at, weight, word_at};
use crate::kernels::GROUP;

/// Columns of words in a cube: 32 bytes of each row, which is what memory delivers at least.
const COLUMNS: usize = 8;

/// The pairs of a column and a slice in a cube.
const PAIRS: usize = COLUMNS * SLICES;

/// The most rows in a cube. With 4 outputs in a word, their sums are 16 KiB of shared memory, which
/// is what WebGPU promises.
const ROWS: usize = 4;

/// The most cubes along an axis that WebGPU promises.
const MOST_CUBES: usize = 65_535;

/// `x` is `[rows, n_in]`.
pub(super) fn launch(
    x: CubeTensor,
    words: CubeTensor,
    y: CubeTensor,
    rows: usize,
    matrices: &Matrices,
    outputs: &Outputs,
) {
    let packing = matrices.packing();
    let client = x.client.clone();
    let rows_of_cube = if rows == 1 { 1 } else { ROWS };
    let units = if computes_on_host(&client) { 1 } else { PAIRS };
    let cubes = outputs.panels * packing.columns() / COLUMNS;
    let across = cubes.min(MOST_CUBES);
    let count = [across, rows.div_ceil(rows_of_cube), cubes.div_ceil(across)].map(|n| n as u32);
    let [n_outs, starts] = outputs.args();
    // Inputs are read four at once, where none of the four can be beyond the last.
    let whole = matrices.n_in.is_multiple_of(GROUP);
    let is_even = packing.inputs() > 1 && matrices.n_in.is_multiple_of(packing.inputs());
    let width = if whole || is_even { 4 } else { 1 };
    let dtype = element(&x);
    // SAFETY: the kernel reads rows below `rows`, inputs below `n_in` and panels of these matrices, and
    // writes outputs below those of each matrix.
    unsafe {
        few_rows::launch_unchecked(
            &client,
            CubeCount::new_3d(count[0], count[1], count[2]),
            CubeDim::new_1d(units as u32),
            width,
            x.into_buffer_arg(),
            words.into_buffer_arg(),
            y.into_buffer_arg(),
            rows,
            matrices.n_in,
            outputs.first_panel,
            cubes,
            n_outs,
            starts,
            packing,
            rows_of_cube,
            units,
            whole,
            dtype,
        );
    }
}

/// `x` is `[rows, n_in]`, in vectors of `N`, and `y` has the rows of each matrix from its start on.
#[cube(launch_unchecked)]
fn few_rows<F: Float, N: Size>(
    x: &[Vector<F, N>],
    words: &[u32],
    y: &mut [F],
    rows: usize,
    n_in: usize,
    first_panel: usize,
    cubes: usize,
    n_outs: &Sequence<usize>,
    starts: &Sequence<usize>,
    #[comptime] packing: Packing,
    #[comptime] rows_of_cube: usize,
    #[comptime] units: usize,
    #[comptime] whole: bool,
    #[define(F)] _dtype: ElemType,
) {
    let outputs = comptime!(packing.outputs());
    let sums_of_pair = comptime!(outputs * rows_of_cube);
    let cube = CUBE_POS_Z as usize * CUBE_COUNT_X as usize + CUBE_POS_X as usize;
    if cube >= cubes {
        terminate!();
    }
    let first_column = cube * COLUMNS;
    let first_row = CUBE_POS_Y as usize * rows_of_cube;

    // `[sums_of_pair][SLICES][COLUMNS]`
    let mut partial = Shared::<[f32]>::new_slice(comptime!(PAIRS * sums_of_pair));
    let mut pair = UNIT_POS as usize;
    while pair < PAIRS {
        let sums = slice_sums::<F, N>(
            x,
            words,
            first_row,
            rows,
            n_in,
            first_panel * comptime!(packing.columns()) + first_column + pair % COLUMNS,
            pair / COLUMNS,
            packing,
            rows_of_cube,
            whole,
        );
        #[unroll]
        for i in 0..sums_of_pair {
            partial[i * PAIRS + pair] = sums[i];
        }
        pair += units;
    }
    sync_cube();

    let mut at = UNIT_POS as usize;
    while at < comptime!(COLUMNS * sums_of_pair) {
        let (i, column) = (at / COLUMNS, at % COLUMNS);
        let row = first_row + i / outputs;
        if row < rows {
            let total = add_slices(&partial, i * PAIRS + column);
            let output = (first_column + column) * outputs + i % outputs;
            write::<F>(y, total, row, output, n_outs, starts);
        }
        at += units;
    }
}

/// Adds the sums of the slices of a column, in order.
#[cube]
fn add_slices(partial: &Shared<[f32]>, first: usize) -> f32 {
    let mut total = 0.0f32;
    for slice in 0..SLICES {
        total += partial[first + slice * COLUMNS];
    }
    total
}

// ANCHOR: slice_sums
/// The sums of a slice over one column of words: `[rows_of_cube][outputs]`.
#[cube]
fn slice_sums<F: Float, N: Size>(
    x: &[Vector<F, N>],
    words: &[u32],
    first_row: usize,
    rows: usize,
    n_in: usize,
    column: usize,
    slice: usize,
    #[comptime] packing: Packing,
    #[comptime] rows_of_cube: usize,
    #[comptime] whole: bool,
) -> Array<f32> {
    let outputs = comptime!(packing.outputs());
    let inputs = comptime!(packing.inputs());
    let columns = comptime!(packing.columns());
    // How many words are loaded before the first of them is multiplied.
    let ahead = comptime!(words_ahead(packing, rows_of_cube, whole));
    let (panel, column) = (column / columns, column % columns);
    let mut sums = Array::<f32>::new(comptime!(outputs * rows_of_cube));

    let mut group = slice;
    while group < n_in.div_ceil(GROUP) {
        let start = group_start(panel, group, n_in, packing);
        let scaling = scaling_of(words, start, column * outputs, packing);
        let steps = min(GROUP, n_in - group * GROUP).div_ceil(inputs);
        for part in 0..steps / ahead {
            let step = part * ahead;
            let mut loaded = Array::<u32>::new(ahead);
            #[unroll]
            for i in 0..ahead {
                loaded[i] = words[word_at(start, step + i, column, packing)];
            }
            let first_input = group * GROUP + step * inputs;
            let numbers = load_inputs::<F, N>(
                x,
                first_row,
                rows,
                n_in,
                first_input,
                comptime!(ahead * inputs),
                rows_of_cube,
            );
            #[unroll]
            for i in 0..ahead {
                let weights = weights_of(loaded[i], &scaling, step + i, packing);
                #[unroll]
                for input in 0..inputs {
                    #[unroll]
                    for at in 0..comptime!(rows_of_cube * outputs) {
                        let row = comptime!(at / outputs * ahead * inputs + i * inputs);
                        let weight = weights[comptime!(input + at % outputs)];
                        sums[at] = fma(weight, numbers[comptime!(row + input)], sums[at]);
                    }
                }
            }
        }
        group += SLICES;
    }
    sums
}
// ANCHOR_END: slice_sums

/// With one load in flight a unit waits for memory at each step. The numbers of the rows are in registers,
/// so there are fewer words at once where there are more rows or inputs.
fn words_ahead(packing: Packing, rows_of_cube: usize, whole: bool) -> usize {
    match (whole, packing.inputs(), rows_of_cube) {
        (false, ..) => 1,
        (true, 1, 1) => 16,
        (true, 1, _) => 8,
        (true, _, 1) => 4,
        (true, ..) => 1,
    }
}

/// `count` inputs of each row, from `first` on: `[rows_of_cube][count]`.
#[cube]
fn load_inputs<F: Float, N: Size>(
    x: &[Vector<F, N>],
    first_row: usize,
    rows: usize,
    n_in: usize,
    first: usize,
    #[comptime] count: usize,
    #[comptime] rows_of_cube: usize,
) -> Array<f32> {
    let width = N::value();
    let mut numbers = Array::<f32>::new(comptime!(rows_of_cube * count));
    #[unroll]
    for row in 0..rows_of_cube {
        let x_row = min(first_row + row, rows - 1);
        #[unroll]
        for part in 0..comptime!(count / width) {
            // The weights of a group beyond the last input are 0.
            let input = min(first + comptime!(part * width), n_in - 1);
            let vector = x[(x_row * n_in + input) / width];
            #[unroll]
            for i in 0..width {
                numbers[comptime!(row * count + part * width + i)] =
                    f32::cast_from(vector.extract(i));
            }
        }
    }
    numbers
}

/// The scales of the outputs of a word, for each part of a group, and their minima.
#[derive(CubeType)]
struct GroupScaling {
    scales: Array<f32>,
    mins: Array<f32>,
}

#[cube]
fn scaling_of(
    words: &[u32],
    start: usize,
    first_output: usize,
    #[comptime] packing: Packing,
) -> GroupScaling {
    let outputs = comptime!(packing.outputs());
    let mut scales = Array::<f32>::new(comptime!(outputs * packing.parts()));
    let mut mins = Array::<f32>::new(outputs);
    #[unroll]
    for output in 0..outputs {
        let lane = first_output + output;
        #[unroll]
        for part in 0..comptime!(packing.parts()) {
            scales[comptime!(part * outputs + output)] =
                scale_at(words, start, lane, part, packing);
        }
        mins[output] = min_at(words, start, lane, scales[output], packing);
    }
    GroupScaling { scales, mins }
}

/// The weights of a word in row `step` of its group: of one output at several inputs, or of several
/// outputs.
#[cube]
fn weights_of(
    word: u32,
    scaling: &GroupScaling,
    step: usize,
    #[comptime] packing: Packing,
) -> Array<f32> {
    let outputs = comptime!(packing.outputs());
    let mut weights = Array::<f32>::new(comptime!(outputs * packing.inputs()));
    #[unroll]
    for output in 0..outputs {
        let scale = if comptime!(packing.parts() == 2) {
            let second = scaling.scales[comptime!(outputs + output)];
            select(step < comptime!(GROUP / 2), scaling.scales[output], second)
        } else {
            scaling.scales[output]
        };
        #[unroll]
        for input in 0..comptime!(packing.inputs()) {
            let index = comptime!(input + output);
            weights[index] = weight(word, index, scale, scaling.mins[output], packing);
        }
    }
    weights
}
