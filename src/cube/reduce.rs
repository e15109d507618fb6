//! Sums over a row of numbers, by all units of a cube.
//!
//! A row is summed in lanes: lane `i` takes the numbers `i`, `i + lanes`, `i + 2 lanes`, and so on, and the
//! lanes are added in a tree. A unit takes as many lanes as it must, so the order of the additions is the
//! same for any number of units.

use burn_cubecl::cubecl;
use burn_cubecl::cubecl::prelude::{Tensor as Buffer, *};
use burn_cubecl::tensor::CubeTensor;

/// The lanes of a row of a hidden state or of logits.
pub(super) const LANES: usize = 256;

/// The greatest number of cubes in one dimension of a launch, in WebGPU.
const MOST_CUBES: usize = 65_535;

/// How many units a cube for so many `lanes` has on this device: a power of two, so that each unit takes
/// the numbers whose index is its own, modulo the number of units, in each loop over a row.
pub(super) fn units(tensor: &CubeTensor, lanes: usize) -> CubeDim {
    let hardware = &tensor.client.properties().hardware;
    let most = hardware.max_units_per_cube.min(hardware.max_cube_dim.0).max(1);
    CubeDim::new_1d((1 << most.ilog2()).min(lanes as u32))
}

/// At least `count` cubes: those from `count` on have nothing to do.
pub(super) fn cubes(count: usize) -> CubeCount {
    let x = count.clamp(1, MOST_CUBES);
    CubeCount::Static(x as u32, count.div_ceil(x) as u32, 1)
}

/// The sum of the squares of `x[first..first + width]`, in f32. All units of the cube call this, and
/// each gets the sum.
#[cube]
pub(super) fn sum_of_squares<T: Float>(
    x: &Buffer<T>,
    first: usize,
    #[comptime] width: usize,
    #[comptime] lanes: usize,
) -> f32 {
    let mut sums = Shared::<[f32]>::new_slice(lanes);
    let units = CUBE_DIM as usize;
    let mut lane = UNIT_POS as usize;
    while lane < lanes {
        let mut sum = 0.0f32;
        let mut i = lane;
        while i < width {
            let number = f32::cast_from(x[first + i]);
            sum += number * number;
            i += lanes;
        }
        sums[lane] = sum;
        lane += units;
    }
    sync_cube();
    let mut half = lanes / 2;
    while half > 0 {
        let mut lane = UNIT_POS as usize;
        while lane < half {
            sums[lane] = sums[lane] + sums[lane + half];
            lane += units;
        }
        sync_cube();
        half /= 2;
    }
    sums[0]
}
