//! A bug hunt: a rotation with a race.

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
    heads * head_dim / units
}

/// The kernel: rotates the heads in place. `x` is `[heads][head_dim]` in one piece; `cos` and `sin`
/// are `[head_dim / 2]`, for the position of all these heads. Number `i` in the first half of a
/// head is rotated together with number `i + head_dim / 2`:
///
/// ```text
/// x[i]        becomes  x[i] * cos[i] - x[i + half] * sin[i]
/// x[i + half] becomes  x[i + half] * cos[i] + x[i] * sin[i]
/// ```
///
/// **What was observed.** On a GPU the text is nonsense, and different nonsense in each run. On the
/// CPU, where the units of a launch run one after the other, it is nonsense too, but always the
/// same. A test with one head, one position and the angle 0 passes everywhere. A model with nine
/// heads of 64 numbers also has numbers in its last head that were never rotated; one with eight
/// heads does not.
///
/// Find the reasons, and fix them. The units of a launch run at the same time, in any order. Each
/// number is written once, and a unit rotates one pair at most.
pub fn rotate(place: Place, x: &mut [f32], cos: &[f32], sin: &[f32]) {
    let half = cos.len();
    let index = place.cube * place.units + place.unit;
    if index >= x.len() {
        return;
    }
    let i = index % (2 * half);
    if i < half {
        x[index] = x[index] * cos[i] - x[index + half] * sin[i];
    } else {
        let i = i - half;
        x[index] = x[index] * cos[i] + x[index - half] * sin[i];
    }
}
