//! MXFP4: groups of 32 numbers of 4 bits each, with a power of two that they are multiplied by (Open Compute
//! Project, Microscaling Formats Specification 1.0).

use std::array;

use burn::tensor::bf16;

/// The numbers of a group.
pub(super) const GROUP: usize = 32;
/// The bytes of a group: two numbers in each.
pub(super) const BYTES: usize = GROUP / 2;

/// What 3 bits say; the fourth is the sign.
const MAGNITUDES: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// The numbers of a group: in each byte the lower half is the first. `scale` is the exponent of the power of
/// two, plus 127. bf16 holds all of them.
pub(super) fn numbers(scale: u8, block: &[u8]) -> [bf16; GROUP] {
    let scaled: [bf16; 16] = array::from_fn(|bits| {
        let number = libm::ldexp(MAGNITUDES[bits % 8], i32::from(scale) - 127);
        bf16::from_f64(if bits < 8 { number } else { -number })
    });
    array::from_fn(|i| scaled[usize::from(block[i / 2] >> (i % 2 * 4) & 0xF)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_read() {
        let mut block = [0; BYTES];
        (block[0], block[15]) = (0x72, 0x9F);
        let found = numbers(128, &block).map(bf16::to_f32);
        assert_eq!((found[0], found[1], found[30], found[31]), (2.0, 12.0, -12.0, -1.0));
        assert!(found[2..30].iter().all(|number| *number == 0.0));
        assert_eq!(numbers(0, &block)[1].to_f64(), 6.0 * 2f64.powi(-127));
    }
}
