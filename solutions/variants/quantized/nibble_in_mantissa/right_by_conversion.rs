//! With a conversion, which gives the same number.

pub fn sixteen_plus(word: u32, i: usize) -> f32 {
    (16 + (word >> (4 * i)) % 16) as f32
}

pub fn sum(word: u32, x: &[f32; 8]) -> f32 {
    let total = (0..8).fold(0.0_f32, |total, i| x[i].mul_add(sixteen_plus(word, i), total));
    let x_sum = x.iter().fold(0.0, |sum, x| sum + x);
    x_sum.mul_add(-24.0, total)
}
