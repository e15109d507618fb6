//! A kernel, as a function of the place of a unit.
//!
//! Why: a kernel is one function, and its place is the only argument that differs between units. So
//! the index of a number is computed from the place, and the first thing that a kernel does is to
//! see whether there is such a number. The loop makes it right for any launch: the limit of a device
//! then costs speed, and no result.
//!
//! What it costs: the units that are left over start, compare, and end. With 256 units in a cube
//! that are at most 255 for a launch.
//!
//! A common wrong turn: to give each unit a run of numbers, one after the other, as one would for
//! threads of a CPU. The result is right, but neighbours then read far apart at the same time.

/// Where a unit is in a launch: all that tells it from the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The number of its cube.
    pub cube: usize,
    /// Its number in the cube.
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
