//! Weights of 16 bits from panels into the order in which Burn's products take them.

use burn_cubecl::cubecl;
use burn_cubecl::cubecl::prelude::*;
use burn_cubecl::tensor::CubeTensor;

use crate::cube::one_unit_each;
use crate::kernels::LANES;

/// The words of a row of a panel, of two weights each.
const COLUMNS: usize = LANES / 2;

/// `y` is `[n_in, n_out]`, of whole panels.
pub(super) fn launch(words: CubeTensor, y: CubeTensor, n_in: usize, first_panel: usize) {
    let client = y.client.clone();
    let columns = y.meta.shape()[1] / 2;
    let units = n_in * columns;
    let (count, dim) = one_unit_each(&y, units);
    // SAFETY: a unit below `units` writes a word of `y`, and reads one of these panels.
    unsafe {
        unpack::launch_unchecked(
            &client,
            count,
            dim,
            words.into_buffer_arg(),
            y.into_buffer_arg(),
            units,
            columns,
            n_in,
            first_panel,
        );
    }
}

/// Each unit moves a word: its two weights are side by side in a panel, and in `y`.
#[cube(launch_unchecked)]
fn unpack(
    words: &[u32],
    y: &mut [u32],
    units: usize,
    columns: usize,
    n_in: usize,
    first_panel: usize,
) {
    if ABSOLUTE_POS >= units {
        terminate!();
    }
    let (input, column) = (ABSOLUTE_POS / columns, ABSOLUTE_POS % columns);
    let panel = first_panel + column / COLUMNS;
    y[ABSOLUTE_POS] = words[(panel * n_in + input) * COLUMNS + column % COLUMNS];
}
