//! A row alone is summed in two parts, because one sum would wait for itself.

pub const LANES: usize = 4;

pub fn microkernel<const M: usize>(panel: &[[f32; LANES]], x: &[[f32; M]]) -> [[f32; LANES]; M] {
    let parts_used = if M == 1 { 2 } else { 1 };
    let mut parts = [[[0.0_f32; LANES]; M]; 2];
    for (k, (weights, x)) in panel.iter().zip(x).enumerate() {
        for row in 0..M {
            for lane in 0..LANES {
                let sum = &mut parts[k % parts_used][row][lane];
                *sum = weights[lane].mul_add(x[row], *sum);
            }
        }
    }
    std::array::from_fn(|row| std::array::from_fn(|lane| parts[0][row][lane] + parts[1][row][lane]))
}
