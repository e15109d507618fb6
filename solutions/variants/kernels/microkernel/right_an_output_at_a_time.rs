//! One output after the other: slower, and bit-identical.

pub const LANES: usize = 4;

pub fn pack(weights: &[Vec<f32>]) -> Vec<Vec<[f32; LANES]>> {
    let n_in = weights.first().map_or(0, Vec::len);
    let weight = |o: usize, k: usize| weights.get(o).map_or(0.0, |row| row[k]);
    let lanes = |p: usize, k: usize| std::array::from_fn(|lane| weight(p * LANES + lane, k));
    (0..weights.len().div_ceil(LANES))
        .map(|p| (0..n_in).map(|k| lanes(p, k)).collect())
        .collect()
}

pub fn microkernel<const M: usize>(panel: &[[f32; LANES]], x: &[[f32; M]]) -> [[f32; LANES]; M] {
    std::array::from_fn(|row| {
        std::array::from_fn(|lane| {
            let products = panel.iter().zip(x);
            products.fold(0.0, |sum, (weights, x)| weights[lane].mul_add(x[row], sum))
        })
    })
}
