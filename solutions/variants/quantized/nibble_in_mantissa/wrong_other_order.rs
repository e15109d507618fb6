//! The offset is taken off each factor: as good, and other bits.

pub fn sixteen_plus(word: u32, i: usize) -> f32 {
    f32::from_bits(16.0_f32.to_bits() | (word >> (4 * i) & 15) << 19)
}

pub fn sum(word: u32, x: &[f32; 8]) -> f32 {
    let factor = |i: usize| sixteen_plus(word, i) - 24.0;
    (0..8).fold(0.0, |sum, i| factor(i).mul_add(x[i], sum))
}
