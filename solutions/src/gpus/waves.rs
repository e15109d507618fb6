//! Occupancy, waves, and the least time of a step.
//!
//! Why: a multiprocessor hides the latency of memory by turning to another unit that has its
//! numbers. So it must hold many units, and whatever a cube asks for, units, registers or shared
//! memory, decides how many there are. A launch whose cubes fill no wave leaves multiprocessors
//! idle, and one cube too many adds a whole wave.
//!
//! What it costs: nothing but counting. What it leaves out: units that have enough to do by
//! themselves need no high occupancy, and cubes of one wave do not all end at the same time.
//!
//! A common wrong turn: adding the times of launches and bytes. The host runs ahead of the GPU, so
//! the longer of both counts. For a small model that is the launches.

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

/// How many cubes of a launch a multiprocessor holds at once.
pub fn resident(gpu: &Gpu, launch: &Launch) -> u64 {
    let by_units = gpu.units / launch.units;
    let by_memory = gpu.shared_bytes.checked_div(launch.shared_bytes).unwrap_or(u64::MAX);
    let registers = launch.registers * launch.units;
    let by_registers = gpu.registers.checked_div(registers).unwrap_or(u64::MAX);
    gpu.cubes.min(by_units).min(by_memory).min(by_registers)
}

/// Which share of a multiprocessor's units the resident cubes have.
pub fn occupancy(gpu: &Gpu, launch: &Launch) -> f64 {
    (resident(gpu, launch) * launch.units) as f64 / gpu.units as f64
}

/// How often the GPU is filled until all cubes were there.
pub fn waves(gpu: &Gpu, launch: &Launch) -> Option<u64> {
    match gpu.multiprocessors * resident(gpu, launch) {
        0 => None,
        wave => Some(launch.cubes.div_ceil(wave)),
    }
}

/// The least seconds of a step that makes all these launches, one after the other.
pub fn least_seconds(gpu: &Gpu, launches: &[Launch]) -> f64 {
    let bytes: u64 = launches.iter().map(|launch| launch.bytes).sum();
    let moved = bytes as f64 / gpu.bytes_per_second;
    let started = launches.len() as f64 * gpu.seconds_of_a_launch;
    moved.max(started)
}
