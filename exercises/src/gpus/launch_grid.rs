//! A kernel, as a function of the place of a unit.

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

/// How many cubes of `units` units are launched over so many `numbers`: enough for each unit to take
/// one number, but no more than `most`, the limit of the device. There may be no numbers: then there is
/// nothing to launch.
///
/// **Limits**, for when that passes: there may be as many numbers as a `usize` counts.
pub fn cubes(numbers: usize, units: usize, most: usize) -> usize {
    todo!()
}

/// The host: runs `kernel` once for each unit, cube by cube.
pub fn launch(cubes: usize, units: usize, kernel: &mut dyn FnMut(Place)) {
    todo!()
}

/// The kernel: what one unit does. `x` is `[rows][width]` in one piece, `weight` is `[width]`. Each
/// number of `x`, times the weight of its column, becomes the number of `out` at the same index.
///
/// - On a device all units run at the same time. So each number is written by one unit, and a unit
///   writes no others than its own.
/// - A unit begins with the number that has its own index among all units of the launch, counted
///   cube by cube. Neighbours take neighbours.
/// - The last cube may have units that are left over. They write nothing.
/// - The launch may have fewer units than there are numbers. Then each unit goes on, with the
///   number that is further by as many as the launch has units.
///
/// ```text
/// 10 numbers, 2 cubes of 3 units
///
/// cube 0   unit 0: 0 6   unit 1: 1 7   unit 2: 2 8
/// cube 1   unit 0: 3 9   unit 1: 4     unit 2: 5
/// ```
pub fn scale(place: Place, x: &[f32], weight: &[f32], out: &mut [f32]) {
    todo!()
}
