//! Error against group size.
//!
//! Why: each group has the range that its weights need. A large weight makes the steps of its group
//! coarse, and no others. So smaller groups have smaller errors.
//!
//! What it costs: a scale for each group. Groups of 4 would take as many bits for scales as for
//! integers.
//!
//! A common wrong turn: taking the mean of the groups' means. A last group that is shorter would
//! then count as much as a whole one.

/// The integers go from -7 to 7.
const MOST: f32 = 7.0;
const BITS: usize = 4;
const BITS_OF_A_SCALE: usize = 16;

/// The mean squared error of a row that is stored as 4-bit integers in groups of `group` weights.
pub fn mean_squared_error(row: &[f32], group: usize) -> f32 {
    let sum: f32 = row.chunks(group).map(squared_error).sum();
    sum / row.len() as f32
}

/// The sum of the squared errors of a group.
fn squared_error(weights: &[f32]) -> f32 {
    let greatest = weights.iter().fold(0.0_f32, |greatest, weight| greatest.max(weight.abs()));
    if greatest == 0.0 {
        return 0.0;
    }
    let scale = greatest / MOST;
    let error = |weight: &f32| weight - scale * (weight / scale).round();
    weights.iter().map(|weight| error(weight).powi(2)).sum()
}

/// The bits that such a row takes for each weight.
pub fn bits_per_weight(weights: usize, group: usize) -> f32 {
    let bits = BITS * weights + BITS_OF_A_SCALE * weights.div_ceil(group);
    bits as f32 / weights as f32
}
