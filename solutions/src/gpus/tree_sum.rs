//! A sum by all units of a cube, with barriers.
//!
//! Why: the lanes fix the order of the additions, and the units only share them out. So a device
//! with 32 units in a cube and one with 256 give bit-identical sums, whatever else the launch
//! computes. Neighbouring units gather neighbouring lanes, so they read numbers that are adjacent
//! in memory.
//!
//! What it costs: log2(lanes) barriers, at which all units wait for the slowest. In the last steps
//! most units have nothing to add.
//!
//! A common wrong turn: as many partial sums as there are units. It is right to within rounding,
//! but has other bits on another device.

/// How many partial sums a cube has, on every device and for every number of units.
pub const LANES: usize = 8;

/// Before the first barrier: the lanes of unit `unit` of `units`.
pub fn gather(unit: usize, units: usize, x: &[f32], lanes: &mut [f32; LANES]) {
    for lane in (unit..LANES).step_by(units) {
        lanes[lane] = 0.0;
        for i in (lane..x.len()).step_by(LANES) {
            lanes[lane] += x[i];
        }
    }
}

/// Between two barriers: lane `l + half` is added to lane `l`.
pub fn fold(unit: usize, units: usize, half: usize, lanes: &mut [f32; LANES]) {
    for lane in (unit..half).step_by(units) {
        lanes[lane] += lanes[lane + half];
    }
}

/// The host, as it runs one cube: every unit up to the barrier, then every unit up to the next one.
pub fn sum(x: &[f32], units: usize) -> f32 {
    let mut lanes = [0.0; LANES];
    for unit in 0..units {
        gather(unit, units, x, &mut lanes);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for unit in 0..units {
            fold(unit, units, half, &mut lanes);
        }
        half /= 2;
    }
    lanes[0]
}
