//! The rows of an embedding in panels.

use burn_cubecl::cubecl;
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::tensor::CubeTensor;

use super::{Matrices, panels};
use crate::cube::packing::{Packing, group_start, min_at, scale_at, weight, word_at};
use crate::cube::{element, one_unit_each};
use crate::kernels::{GROUP, LANES};

/// `ids` is `[rows]`, and `y` is `[rows, n_in]`.
pub(super) fn launch(ids: CubeTensor, words: CubeTensor, y: CubeTensor, matrices: &Matrices) {
    let packing = matrices.packing();
    let client = y.client.clone();
    let units = ids.meta.shape()[0] * matrices.n_in.div_ceil(packing.inputs());
    let (count, dim) = one_unit_each(&y, units);
    let dtypes = [element(&y), element(&ids)];
    // SAFETY: every index is checked against the units, the inputs and the outputs, which are those of
    // the buffers.
    unsafe {
        lookup::launch_unchecked(
            &client,
            count,
            dim,
            ids.into_buffer_arg(),
            words.into_buffer_arg(),
            y.into_buffer_arg(),
            units,
            matrices.n_in,
            panels(&matrices.n_out) * LANES,
            packing,
            dtypes,
        );
    }
}

/// Each unit takes the weights of one output from a word.
#[cube(launch_unchecked)]
fn lookup<F: Float, I: Int>(
    ids: &[I],
    words: &[u32],
    y: &mut [F],
    units: usize,
    n_in: usize,
    n_out: usize,
    #[comptime] packing: Packing,
    #[define(F, I)] _dtypes: [ElemType; 2],
) {
    if ABSOLUTE_POS >= units {
        terminate!();
    }
    let outputs = comptime!(packing.outputs());
    let inputs = comptime!(packing.inputs());
    let steps = n_in.div_ceil(inputs);
    let (place, step) = (ABSOLUTE_POS / steps, ABSOLUTE_POS % steps);
    let output = min(usize::cast_from(ids[place]), n_out - 1);
    let lane = output % LANES;
    let (group, step) = (step / comptime!(GROUP / inputs), step % comptime!(GROUP / inputs));

    let start = group_start(output / LANES, group, n_in, packing);
    let word = words[word_at(start, step, lane / outputs, packing)];
    let first = scale_at(words, start, lane, 0usize, packing);
    let scale = if comptime!(packing.parts() == 2) {
        let second = scale_at(words, start, lane, 1usize, packing);
        select(step < comptime!(GROUP / 2), first, second)
    } else {
        first
    };
    let min_of_group = min_at(words, start, lane, scale, packing);
    #[unroll]
    for i in 0..comptime!(outputs * inputs) {
        let weight = weight(word, i, scale, min_of_group, packing);
        // The word has one output at several inputs, or several outputs, of which one is asked for.
        let k = group * GROUP + step * inputs + comptime!(i % inputs);
        if k < n_in && lane % outputs == comptime!(i / inputs) {
            y[place * n_in + k] = F::cast_from(weight);
        }
    }
}
