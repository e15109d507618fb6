//! A kernel, as a function of the place of a unit.

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

/// A kernel runs once for each unit, and all a unit knows is its place. How many cubes of `units`
/// units do you launch over so many `numbers`? Enough for each unit to take one number, but no more
/// than `most`, the limit of the device. There may be no numbers: then there is nothing to launch.
///
/// **Limits**, for when that passes: `numbers` may be any `usize`.
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
///   writes only its numbers.
/// - A unit begins with the number that has the unit's index among all units of the launch, counted
///   cube by cube. Neighbours take neighbours.
/// - The last cube may have units that are left over. They write nothing.
/// - The launch may have fewer units than there are numbers. Then each unit goes on: it skips ahead
///   by as many numbers as the launch has units.
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
