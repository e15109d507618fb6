//! A sum by all units of a cube, with barriers.

/// How many partial sums a cube has, on every device and for every number of units.
pub const LANES: usize = 8;

/// One unit could add up a whole row, and all others would wait. So the units of a cube share the
/// work, in lanes. This is what unit `unit` of `units` does before the first barrier.
///
/// Lane `l` is the sum of the numbers `l`, `l + LANES`, `l + 2 * LANES` and so on, in this order,
/// from 0 upwards. The unit computes the lanes `unit`, `unit + units` and so on. A cube may have
/// more units than lanes; the extra ones have nothing to do.
///
/// `lanes` is memory that the units of a cube share. It holds anything at first. The other units
/// run at the same time, so this one writes only its lanes.
pub fn gather(unit: usize, units: usize, x: &[f32], lanes: &mut [f32; LANES]) {
    todo!()
}

/// Between two barriers: what unit `unit` of `units` does.
///
/// Add lane `l + half` to lane `l`, for each `l` below `half`. The unit does so for `l` = `unit`,
/// `unit + units` and so on. It writes no lane from `half` on, since others still read them.
pub fn fold(unit: usize, units: usize, half: usize, lanes: &mut [f32; LANES]) {
    todo!()
}

/// The host, as it runs one cube: every unit up to the barrier, then every unit up to the next one.
/// Fold the lanes by halves until one is left, which is the sum.
///
/// The sum is bit-identical for any number of units.
///
/// ```text
/// lanes    1  2  3  4  5  6  7  8
/// half 4   6  8 10 12
/// half 2  16 20
/// half 1  36
/// ```
pub fn sum(x: &[f32], units: usize) -> f32 {
    todo!()
}
