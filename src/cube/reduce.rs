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

/// Loops of more steps are not unrolled.
pub(super) const MOST_UNROLLED: usize = 32;

/// The greatest number of cubes in one dimension of a launch, in WebGPU.
const MOST_CUBES: usize = 65_535;

/// How many units a cube for so many `lanes` has on this device. On a CPU, where units are threads and
/// cubes are what is shared out, one.
pub(super) fn units(tensor: &CubeTensor, lanes: usize) -> u32 {
    let hardware = &tensor.client.properties().hardware;
    match hardware.num_cpu_cores {
        Some(_) => 1,
        None => hardware.max_units_per_cube.min(lanes as u32),
    }
}

/// At least `count` cubes: those from `count` on have nothing to do.
pub(super) fn cubes(count: usize) -> CubeCount {
    let x = count.clamp(1, MOST_CUBES);
    CubeCount::Static(x as u32, count.div_ceil(x) as u32, 1)
}

/// The number at `i` of `x`, to which `y` is added where there is one.
#[cube]
pub(super) fn number<T: Float>(x: &Buffer<T>, y: ComptimeOption<&Buffer<T>>, i: usize) -> T {
    #[comptime]
    let number = match y {
        ComptimeOption::Some(y) => x[i] + y[i],
        ComptimeOption::None => x[i],
    };
    number
}

// ANCHOR: sum_of_squares
/// The sum of the squares of `x[first..first + width]`, to which `y` is added, in f32. All units of the
/// cube call this, and each gets the sum.
#[cube]
pub(super) fn sum_of_squares<T: Float>(
    x: &Buffer<T>,
    y: ComptimeOption<&Buffer<T>>,
    first: usize,
    #[comptime] width: usize,
    #[comptime] lanes: usize,
) -> f32 {
    let mut sums = Shared::<[f32]>::new_slice(lanes);
    let (unit, units) = (UNIT_POS as usize, CUBE_DIM as usize);
    for lane in range_stepped(unit, lanes, units) {
        let mut sum = 0.0f32;
        // Unrolled, so that a unit waits for all its numbers at once.
        let steps = comptime!(width.div_ceil(lanes));
        #[unroll(steps <= MOST_UNROLLED)]
        for step in 0..steps {
            let i = lane + step * lanes;
            if i < width {
                let x = f32::cast_from(number(x, y, first + i));
                sum += x * x;
            }
        }
        sums[lane] = sum;
    }
    sync_cube();
    let mut half = (lanes / 2).runtime();
    while half > 0 {
        for lane in range_stepped(unit, half, units) {
            sums[lane] += sums[lane + half];
        }
        sync_cube();
        half /= 2;
    }
    sums[0]
}
// ANCHOR_END: sum_of_squares
