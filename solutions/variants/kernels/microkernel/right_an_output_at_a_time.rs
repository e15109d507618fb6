//! One output after the other: slower, and the same bits.

pub const LANES: usize = 4;

pub fn microkernel<const M: usize>(panel: &[[f32; LANES]], x: &[[f32; M]]) -> [[f32; LANES]; M] {
    std::array::from_fn(|row| {
        std::array::from_fn(|lane| {
            let products = panel.iter().zip(x);
            products.fold(0.0, |sum, (weights, x)| weights[lane].mul_add(x[row], sum))
        })
    })
}
