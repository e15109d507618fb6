//! Occupancy, waves, and the least time of a step.

/// What a GPU has. A multiprocessor is a part of it that runs cubes, independently of the others.
#[derive(Debug, Clone, Copy)]
pub struct Gpu {
    pub multiprocessors: u64,
    /// The most units that a multiprocessor holds at once.
    pub units: u64,
    /// The most cubes that it holds at once.
    pub cubes: u64,
    /// The memory that the cubes on it share out, in bytes.
    pub shared_bytes: u64,
    /// The registers that the units on it share out.
    pub registers: u64,
    pub bytes_per_second: f64,
    /// How long the host takes to start a launch.
    pub seconds_of_a_launch: f64,
}

/// A launch of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Launch {
    pub cubes: u64,
    /// The units of a cube.
    pub units: u64,
    /// The shared memory of a cube, in bytes.
    pub shared_bytes: u64,
    /// The registers of a unit.
    pub registers: u64,
    /// What all units together read and write of the GPU's memory.
    pub bytes: u64,
}

/// A GPU hides the waiting of one cube behind the work of others, so it matters how many are there.
/// How many cubes of a launch does a multiprocessor hold at once? A cube is there as a whole or not
/// at all, and needs a place for itself and for all its units, its shared memory, and the registers
/// of its units. 0 if it asks for more than there is.
pub fn resident(gpu: &Gpu, launch: &Launch) -> u64 {
    todo!()
}

/// Which share of a multiprocessor's units do the resident cubes take, if there are cubes enough?
/// From 0 to 1.
pub fn occupancy(gpu: &Gpu, launch: &Launch) -> f64 {
    todo!()
}

/// How often is the GPU filled until all cubes were there? A wave is as many cubes as all
/// multiprocessors hold at once. `None` if not even one cube fits.
///
/// ```text
/// 4 multiprocessors with room for 1024 units, cubes of 256 units
///
/// 4 cubes on each, 16 in a wave       16 cubes: 1 wave       17 cubes: 2 waves
/// ```
pub fn waves(gpu: &Gpu, launch: &Launch) -> Option<u64> {
    todo!()
}

/// The least seconds of a step that makes all these launches, one after the other.
///
/// The GPU moves the bytes of each. The host starts one launch after the other, and doesn't wait
/// for the GPU in between: while the GPU computes, the host is already at a later launch. So there
/// are two bounds, the time of all bytes and the time of all starts, and the result is the greater
/// one. (The first launch is started before it moves a byte; ignore that.)
pub fn least_seconds(gpu: &Gpu, launches: &[Launch]) -> f64 {
    todo!()
}
