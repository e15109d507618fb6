//! Summed in f64: nearer to the truth, and other bits.

pub const LANES: usize = 4;

pub fn microkernel<const M: usize>(panel: &[[f32; LANES]], x: &[[f32; M]]) -> [[f32; LANES]; M] {
    let mut sums = [[0.0_f64; LANES]; M];
    for (weights, x) in panel.iter().zip(x) {
        for row in 0..M {
            for lane in 0..LANES {
                sums[row][lane] += f64::from(weights[lane]) * f64::from(x[row]);
            }
        }
    }
    sums.map(|row| row.map(|sum| sum as f32))
}
