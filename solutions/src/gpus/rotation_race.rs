//! A rotation without a race.
//!
//! Why: two units shared a pair. Each read both numbers and wrote one of them, so the second to
//! come read what the first had written. And on a device nobody knows which is the second. Now one
//! unit has the pair: it reads both numbers, and then writes both. Within a cube a barrier would
//! also do, but the two units of a pair may be in different ones, and no barrier reaches across
//! cubes. Besides, the number of cubes was rounded down, so the numbers of a last cube that is not
//! full had no unit.
//!
//! What it costs: nothing. There are half as many units, each with one more number to write, and
//! every number is read once instead of twice.
//!
//! A common wrong turn: letting the launch write into another list. It is right too, but takes
//! twice the memory, and here `x` is all there is.

/// Where a unit is in a launch.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The index of its cube.
    pub cube: usize,
    /// Its index in the cube.
    pub unit: usize,
    /// How many units each cube has.
    pub units: usize,
}

/// How many cubes of `units` units the host launches to rotate `heads` heads of `head_dim` numbers.
pub fn cubes(heads: usize, head_dim: usize, units: usize) -> usize {
    (heads * head_dim / 2).div_ceil(units)
}

/// The kernel: rotates the heads in place, one pair for each unit.
pub fn rotate(place: Place, x: &mut [f32], cos: &[f32], sin: &[f32]) {
    let half = cos.len();
    let pair = place.cube * place.units + place.unit;
    if pair >= x.len() / 2 {
        return;
    }
    let i = pair % half;
    let first = pair / half * 2 * half + i;
    let (a, b) = (x[first], x[first + half]);
    x[first] = a * cos[i] - b * sin[i];
    x[first + half] = b * cos[i] + a * sin[i];
}
