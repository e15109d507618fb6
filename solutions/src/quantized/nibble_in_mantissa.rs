//! An integer becomes an f32 without a conversion.
//!
//! Why: with AVX2 a conversion is one more instruction to wait for, after a shift and a mask. Here
//! the shift puts the nibble where a mantissa has it, and one `or` supplies the exponent of 16:
//! from 16 to 31, one step of the mantissa's highest four bits is 1.
//!
//! What it costs: the sum is too large by 24 times the sum of `x`, which is computed once for all
//! outputs. And while it grows it holds numbers up to 31 times `x`, where 8 would do: that uses up
//! two of its 24 bits. Next to the error of 4-bit integers it is nothing.
//!
//! A common wrong turn: forgetting the mask. The neighbours of the nibble would stand in the rest
//! of the mantissa, as a fraction.

/// The bits of 16, whose mantissa is 0.
const SIXTEEN: u32 = 16.0_f32.to_bits();

/// The bit of the mantissa that counts as 1, in a number from 16 to 31.
const ONE: u32 = 19;

/// The number `16 + nibble`, where the nibble is the `i`-th of `word`.
pub fn sixteen_plus(word: u32, i: usize) -> f32 {
    let nibble = word >> (4 * i) & 15;
    f32::from_bits(SIXTEEN | nibble << ONE)
}

/// The sum of eight integers times eight numbers, where `word` holds each integer plus 8.
pub fn sum(word: u32, x: &[f32; 8]) -> f32 {
    let (mut sum, mut x_sum) = (0.0, 0.0);
    for (i, x) in x.iter().enumerate() {
        sum = sixteen_plus(word, i).mul_add(*x, sum);
        x_sum += x;
    }
    (-24.0_f32).mul_add(x_sum, sum)
}
