//! 4-bit integers.

use bytemuck::{Pod, Zeroable};
use half::f16;

use super::{GROUP, LANES, PackedGroups, Quantized};

/// Integers in the 32 bits of one output.
const NIBBLES: usize = 8;

/// Groups of 4-bit integers: 4.5 bits for each weight.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Int4 {
    scales: [f16; LANES],
    /// For each 8 consecutive `k`, and each output: 8 integers plus 8, the first in the lowest bits.
    nibbles: [[u32; LANES]; GROUP / NIBBLES],
}

impl PackedGroups for Int4 {
    const FORMAT: Quantized = Quantized::Int4;
    /// 8 for the stored nibbles, and 16 for the conversion.
    const OFFSET: f32 = 24.0;

    fn pack(scales: [f16; LANES], rows: &[[i8; GROUP]; LANES]) -> Self {
        let mut nibbles = [[0; LANES]; GROUP / NIBBLES];
        for (lane, row) in rows.iter().enumerate() {
            for (k, integer) in row.iter().enumerate() {
                let nibble = (integer + 8) as u32 & 15;
                nibbles[k / NIBBLES][lane] |= nibble << (4 * (k % NIBBLES));
            }
        }
        Self { scales, nibbles }
    }

    // ANCHOR: integers
    /// An f32 from 16 to 31 has the number's lowest four integer bits at the top of its mantissa,
    /// below the exponent of 16. So a nibble that is moved there, below that exponent, is the
    /// number 16 + nibble: one shift and one logical operation, where a conversion takes longer.
    #[inline(always)]
    fn integers(&self, k: usize) -> [f32; LANES] {
        const SIXTEEN: u32 = 16.0_f32.to_bits();
        /// The bit of the mantissa that counts as 1, in a number from 16 to 31.
        const ONE: usize = 19;
        let nibbles = &self.nibbles[k / NIBBLES];
        let bit = 4 * (k % NIBBLES);
        let mut integers = [0.0; LANES];
        for lane in 0..LANES {
            let bits = nibbles[lane];
            let moved = if bit <= ONE {
                bits << (ONE - bit)
            } else {
                bits >> (bit - ONE)
            };
            integers[lane] = f32::from_bits(moved & (15 << ONE) | SIXTEEN);
        }
        integers
    }
    // ANCHOR_END: integers

    #[inline(always)]
    fn scales(&self) -> &[f16; LANES] {
        &self.scales
    }
}
