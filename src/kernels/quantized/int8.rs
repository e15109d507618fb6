//! 8-bit integers.

use bytemuck::{Pod, Zeroable};
use half::f16;

use super::{GROUP, LANES, PackedGroups, Quantized};

/// Groups of 8-bit integers: 8.5 bits for each weight.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Int8 {
    scales: [f16; LANES],
    /// For each `k` the integers of 32 outputs.
    integers: [[i8; LANES]; GROUP],
}

impl PackedGroups for Int8 {
    const FORMAT: Quantized = Quantized::Int8;
    const OFFSET: f32 = 0.0;

    fn pack(scales: [f16; LANES], rows: &[[i8; GROUP]; LANES]) -> Self {
        let mut integers = [[0; LANES]; GROUP];
        for (lane, row) in rows.iter().enumerate() {
            for (integers, integer) in integers.iter_mut().zip(row) {
                integers[lane] = *integer;
            }
        }
        Self { scales, integers }
    }

    #[inline(always)]
    fn integers(&self, k: usize) -> [f32; LANES] {
        let mut integers = [0.0; LANES];
        for (number, integer) in integers.iter_mut().zip(&self.integers[k]) {
            *number = f32::from(*integer);
        }
        integers
    }

    #[inline(always)]
    fn scales(&self) -> &[f16; LANES] {
        &self.scales
    }
}
