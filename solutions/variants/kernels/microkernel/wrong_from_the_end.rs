//! From the last `k` down.

pub const LANES: usize = 4;

pub fn microkernel<const M: usize>(panel: &[[f32; LANES]], x: &[[f32; M]]) -> [[f32; LANES]; M] {
    let mut sums = [[0.0; LANES]; M];
    for (weights, x) in panel.iter().zip(x).rev() {
        for row in 0..M {
            for lane in 0..LANES {
                sums[row][lane] = weights[lane].mul_add(x[row], sums[row][lane]);
            }
        }
    }
    sums
}
