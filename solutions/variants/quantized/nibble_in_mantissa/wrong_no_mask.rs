//! The neighbours below are left in the mantissa, as a fraction.

pub fn sixteen_plus(word: u32, i: usize) -> f32 {
    let bit = 4 * i;
    let moved = if bit <= 19 {
        word << (19 - bit)
    } else {
        word >> (bit - 19)
    };
    f32::from_bits(16.0_f32.to_bits() | moved & 0x007f_ffff)
}

pub fn sum(word: u32, x: &[f32; 8]) -> f32 {
    let (mut sum, mut x_sum) = (0.0, 0.0);
    for (i, x) in x.iter().enumerate() {
        sum = (16.0 + (word >> (4 * i) & 15) as f32).mul_add(*x, sum);
        x_sum += x;
    }
    (-24.0_f32).mul_add(x_sum, sum)
}
