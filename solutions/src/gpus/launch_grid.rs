//! A kernel, as a function of the place of a unit.
//!
//! Why: a kernel is one function, and its place is the only argument that differs between units. So
//! you compute the index of a number from the place, and check first whether there is such a
//! number. The loop makes the kernel right for any launch: the limit of a device then costs speed,
//! but no result.
//!
//! What it costs: the units that are left over start, compare, and end. With 256 units in a cube
//! that is at most 255 for a launch.
//!
//! A common wrong turn: giving each unit a run of adjacent numbers, as you would for threads of a
//! CPU. The result is right, but neighbouring units then read far apart at the same time.

/// Where a unit is in a launch: nothing else distinguishes it from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The index of its cube.
    pub cube: usize,
    /// Its index in the cube.
    pub unit: usize,
    /// How many cubes the launch has.
    pub cubes: usize,
    /// How many units each cube has.
    pub units: usize,
}

/// How many cubes of `units` units are launched over so many `numbers`, at most `most`.
pub fn cubes(numbers: usize, units: usize, most: usize) -> usize {
    numbers.div_ceil(units).min(most)
}

/// The host: runs `kernel` once for each unit, cube by cube.
pub fn launch(cubes: usize, units: usize, kernel: &mut dyn FnMut(Place)) {
    for cube in 0..cubes {
        for unit in 0..units {
            kernel(Place { cube, unit, cubes, units });
        }
    }
}

/// The kernel: each number of `x`, `[rows][width]`, times the weight of its column.
pub fn scale(place: Place, x: &[f32], weight: &[f32], out: &mut [f32]) {
    let first = place.cube * place.units + place.unit;
    for i in (first..x.len()).step_by(place.cubes * place.units) {
        out[i] = x[i] * weight[i % weight.len()];
    }
}
