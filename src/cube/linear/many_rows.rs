//! A product for many rows, as in prefill: bound by arithmetic.
//!
//! A cube computes a tile of 64 outputs for 64 rows. Group by group, its units unpack the weights of
//! these outputs into shared memory, and the inputs of the rows beside them, so that each is read
//! from there 64 times. A unit has 4 outputs of 4 rows in registers.

use burn_cubecl::cubecl;
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::tensor::CubeTensor;

use super::{Matrices, Outputs, SLICES, write};
use crate::cube::element;
use crate::cube::packing::{Packing, group_start, min_at, scale_at, weight, word_at};
use crate::kernels::{GROUP, LANES};

/// Outputs and rows of a tile. The weights and the inputs of a group are 8 KiB each: together the
/// shared memory that WebGPU promises.
const TILE: usize = 64;

/// Units along the outputs and along the rows.
const SIDE: usize = 16;

/// Outputs, and rows, of a unit.
const EACH: usize = TILE / SIDE;

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
    let (across, down) = ((outputs.panels * LANES).div_ceil(TILE), rows.div_ceil(TILE));
    let [n_outs, starts] = outputs.args();
    let dtype = element(&x);
    // SAFETY: the kernel reads rows below `rows`, inputs below `n_in` and panels of these matrices, and
    // writes outputs below those of each matrix.
    unsafe {
        many_rows::launch_unchecked(
            &client,
            CubeCount::new_2d(across as u32, down as u32),
            CubeDim::new_1d((SIDE * SIDE) as u32),
            x.into_buffer_arg(),
            words.into_buffer_arg(),
            y.into_buffer_arg(),
            rows,
            matrices.n_in,
            outputs.first_panel,
            outputs.panels,
            n_outs,
            starts,
            matrices.packing(),
            dtype,
        );
    }
}

/// `x` is `[rows, n_in]`, and `y` has the rows of each matrix from its start on.
#[cube(launch_unchecked)]
fn many_rows<F: Float>(
    x: &[F],
    words: &[u32],
    y: &mut [F],
    rows: usize,
    n_in: usize,
    first_panel: usize,
    panels: usize,
    n_outs: &Sequence<usize>,
    starts: &Sequence<usize>,
    #[comptime] packing: Packing,
    #[define(F)] _dtype: ElemType,
) {
    let (across, down) = (UNIT_POS as usize % SIDE, UNIT_POS as usize / SIDE);
    let first_output = CUBE_POS_X as usize * TILE;
    let first_row = CUBE_POS_Y as usize * TILE;
    // `[GROUP][TILE]` weights, and `[TILE][GROUP]` inputs
    let mut weights = Shared::<[f32]>::new_slice(comptime!(GROUP * TILE));
    let mut inputs = Shared::<[f32]>::new_slice(comptime!(TILE * GROUP));
    // A new array is of zeros.
    let mut totals = Array::<f32>::new(comptime!(EACH * EACH));

    for slice in 0..SLICES {
        let mut sums = Array::<f32>::new(comptime!(EACH * EACH));
        let mut group = slice;
        while group < n_in.div_ceil(GROUP) {
            let first = first_panel + first_output / LANES;
            let end = first_panel + panels;
            load_weights(words, &mut weights, first, end, group, n_in, packing);
            load_inputs::<F>(x, &mut inputs, first_row, rows, group, n_in);
            sync_cube();
            multiply(&weights, &inputs, across, down, &mut sums);
            sync_cube();
            group += SLICES;
        }
        #[unroll]
        for i in 0..comptime!(EACH * EACH) {
            totals[i] += sums[i];
        }
    }

    #[unroll]
    for i in 0..comptime!(EACH * EACH) {
        let row = first_row + comptime!(i / EACH * SIDE) + down;
        let output = first_output + comptime!(i % EACH * SIDE) + across;
        if row < rows {
            write::<F>(y, totals[i], row, output, n_outs, starts);
        }
    }
}

/// Adds the products of a group to the sums of a unit, `[rows][outputs]`.
#[cube]
fn multiply(
    weights: &Shared<[f32]>,
    inputs: &Shared<[f32]>,
    across: usize,
    down: usize,
    sums: &mut Array<f32>,
) {
    let mut column = Array::<f32>::new(EACH);
    for k in 0..GROUP {
        #[unroll]
        for i in 0..EACH {
            column[i] = weights[k * TILE + i * SIDE + across];
        }
        #[unroll]
        for row in 0..EACH {
            let number = inputs[(row * SIDE + down) * GROUP + k];
            #[unroll]
            for i in 0..EACH {
                let at = comptime!(row * EACH + i);
                sums[at] = fma(column[i], number, sums[at]);
            }
        }
    }
}

/// Unpacks a group of the panels of a tile, `[GROUP][TILE]`. Where there are no inputs or panels any
/// more, weights are 0.
#[cube]
fn load_weights(
    words: &[u32],
    weights: &mut Shared<[f32]>,
    first_panel: usize,
    end_panel: usize,
    group: usize,
    n_in: usize,
    #[comptime] packing: Packing,
) {
    let outputs = comptime!(packing.outputs());
    let inputs = comptime!(packing.inputs());
    let columns = comptime!(TILE / outputs);
    let mut at = UNIT_POS as usize;
    while at < comptime!(columns * (GROUP / inputs)) {
        let (step, column) = (at / columns, at % columns);
        let panel = first_panel + column * outputs / LANES;
        let lane = column * outputs % LANES;
        let is_there = panel < end_panel && group * GROUP + step * inputs < n_in;
        // A word that is there, in any case.
        let panel = select(is_there, panel, first_panel);
        let step_there = select(is_there, step, 0);
        let start = group_start(panel, group, n_in, packing);
        let word = words[word_at(start, step_there, lane / outputs, packing)];
        #[unroll]
        for output in 0..outputs {
            let scale = scale_of_step(words, start, lane + output, step, packing);
            let min = min_at(words, start, lane + output, scale, packing);
            #[unroll]
            for input in 0..inputs {
                let weight = weight(word, input + output, scale, min, packing);
                let k = step * inputs + input;
                weights[k * TILE + column * outputs + output] = select(is_there, weight, 0.0f32);
            }
        }
        at += comptime!(SIDE * SIDE);
    }
}

/// The scale of an output at a row of words.
#[cube]
fn scale_of_step(
    words: &[u32],
    start: usize,
    output: usize,
    step: usize,
    #[comptime] packing: Packing,
) -> f32 {
    let first = scale_at(words, start, output, 0usize, packing);
    if comptime!(packing.parts() == 2) {
        let second = scale_at(words, start, output, 1usize, packing);
        select(step < comptime!(GROUP / 2), first, second)
    } else {
        first
    }
}

/// Copies the inputs of a group for the rows of a tile, `[TILE][GROUP]`. Where there are none any
/// more, they are 0.
#[cube]
fn load_inputs<F: Float>(
    x: &[F],
    inputs: &mut Shared<[f32]>,
    first_row: usize,
    rows: usize,
    group: usize,
    n_in: usize,
) {
    let mut at = UNIT_POS as usize;
    while at < comptime!(TILE * GROUP) {
        let (row, k) = (first_row + at / GROUP, group * GROUP + at % GROUP);
        let is_there = row < rows && k < n_in;
        let place = select(is_there, row * n_in + k, 0);
        inputs[at] = select(is_there, f32::cast_from(x[place]), 0.0f32);
        at += comptime!(SIDE * SIDE);
    }
}
