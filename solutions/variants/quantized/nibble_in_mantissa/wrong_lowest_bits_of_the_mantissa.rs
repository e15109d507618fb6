//! The nibble stands in the lowest bits, where it counts next to nothing.

pub fn sixteen_plus(word: u32, i: usize) -> f32 {
    f32::from_bits(16.0_f32.to_bits() | word >> (4 * i) & 15)
}

pub fn sum(word: u32, x: &[f32; 8]) -> f32 {
    let (mut sum, mut x_sum) = (0.0, 0.0);
    for (i, x) in x.iter().enumerate() {
        sum = sixteen_plus(word, i).mul_add(*x, sum);
        x_sum += x;
    }
    (-24.0_f32).mul_add(x_sum, sum)
}
