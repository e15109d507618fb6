//! 4-bit integers.

use bytemuck::{Pod, Zeroable};
use half::f16;

use super::{GROUP, Group, GroupFormat, LANES, PackedGroups, RoundedGroup};
use crate::kernels::simd::Isa;

/// Integers in the 32 bits of one output.
pub(super) const NIBBLES: usize = 8;

// ANCHOR: int4
/// For each 8 consecutive `k`, and each output: 8 integers from 0 to 15, the first in the lowest
/// bits.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Nibbles([[u32; LANES]; GROUP / NIBBLES]);

/// 4.5 bits for each weight. 8 is added to the integers that are stored.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Int4 {
    scales: [f16; LANES],
    nibbles: Nibbles,
}
// ANCHOR_END: int4

/// 6 bits for each weight.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Int4Min {
    scales: [f32; LANES],
    mins: [f32; LANES],
    nibbles: Nibbles,
}

impl Nibbles {
    /// Packs the integers, to each of which `offset` is added.
    fn pack(groups: &[Group; LANES], offset: i8) -> Self {
        let mut nibbles = [[0; LANES]; GROUP / NIBBLES];
        for (lane, group) in groups.iter().enumerate() {
            for (k, integer) in group.integers.iter().enumerate() {
                let nibble = (integer + offset) as u32 & 15;
                nibbles[k / NIBBLES][lane] |= nibble << (4 * (k % NIBBLES));
            }
        }
        Self(nibbles)
    }

    /// The `k`-th nibbles, plus 16.
    #[inline(always)]
    fn plus_16(&self, k: usize) -> [f32; LANES] {
        moved(&self.0[k / NIBBLES], 4 * (k % NIBBLES))
    }

    /// [`plus_16`](Self::plus_16) for all `k`.
    #[inline(always)]
    fn unpack_plus_16(&self, integers: &mut [[f32; LANES]; GROUP]) {
        let (words, _) = integers.as_chunks_mut::<NIBBLES>();
        for (nibbles, integers) in self.0.iter().zip(words) {
            // Eight calls and no loop: the compiler then knows by how much it shifts. It did not
            // unroll the loop, and made of it code that is several times slower.
            integers[0] = moved(nibbles, 0);
            integers[1] = moved(nibbles, 4);
            integers[2] = moved(nibbles, 8);
            integers[3] = moved(nibbles, 12);
            integers[4] = moved(nibbles, 16);
            integers[5] = moved(nibbles, 20);
            integers[6] = moved(nibbles, 24);
            integers[7] = moved(nibbles, 28);
        }
    }
}

// ANCHOR: integers
/// The nibbles that begin at `bit`, plus 16.
///
/// An f32 from 16 to 31 has the number's lowest four integer bits at the top of its mantissa, below
/// the exponent of 16. So a nibble that is moved there, below that exponent, is the number
/// 16 + nibble: one shift and one logical operation, where a conversion takes longer.
#[inline(always)]
fn moved(nibbles: &[u32; LANES], bit: usize) -> [f32; LANES] {
    const SIXTEEN: u32 = 16.0_f32.to_bits();
    /// The bit of the mantissa that counts as 1, in a number from 16 to 31.
    const ONE: usize = 19;
    let mut numbers = [0.0; LANES];
    for (number, nibbles) in numbers.iter_mut().zip(nibbles) {
        let moved = if bit <= ONE {
            nibbles << (ONE - bit)
        } else {
            nibbles >> (bit - ONE)
        };
        *number = f32::from_bits(moved & (15 << ONE) | SIXTEEN);
    }
    numbers
}
// ANCHOR_END: integers

impl PackedGroups for Int4 {
    const FORMAT: GroupFormat = GroupFormat::Int4;

    /// 8 for the stored nibbles, and 16 for the conversion.
    const OFFSET: f32 = 24.0;
    const FEW_PASSES: usize = 1;

    fn pack(groups: &[Group; LANES]) -> Self {
        let scales = groups.each_ref().map(|group| f16::from_f32(group.scales[0]));
        Self { scales, nibbles: Nibbles::pack(groups, 8) }
    }

    #[inline(always)]
    fn integers(&self, k: usize) -> [f32; LANES] {
        self.nibbles.plus_16(k)
    }

    #[inline(always)]
    fn unpack(&self, integers: &mut [[f32; LANES]; GROUP]) {
        self.nibbles.unpack_plus_16(integers);
    }

    #[inline(always)]
    fn scales<I: Isa>(&self, _: usize) -> [f32; LANES] {
        I::widen_f16(&self.scales)
    }

    #[inline(always)]
    fn add_rounded<I: Isa>(&self, x: &[RoundedGroup], acc: &mut [[f32; LANES]]) {
        I::add_nibbles::<8>(&self.nibbles.0, &self.scales::<I>(0), x, acc);
    }

    #[inline(always)]
    fn add_rounded_row<I: Isa>(&self, x: &RoundedGroup, acc: &mut [f32; LANES]) {
        I::add_nibbles_of_row::<8>(&self.nibbles.0, &self.scales::<I>(0), x, acc);
    }

    #[inline(always)]
    fn scale(&self, _: usize, output: usize) -> f32 {
        self.scales[output].to_f32()
    }
}

impl PackedGroups for Int4Min {
    const FORMAT: GroupFormat = GroupFormat::Int4Min;

    /// For the conversion.
    const OFFSET: f32 = 16.0;
    const FEW_PASSES: usize = 1;

    fn pack(groups: &[Group; LANES]) -> Self {
        let scales = groups.each_ref().map(|group| group.scales[0]);
        let mins = groups.each_ref().map(|group| group.min);
        Self { scales, mins, nibbles: Nibbles::pack(groups, 0) }
    }

    #[inline(always)]
    fn integers(&self, k: usize) -> [f32; LANES] {
        self.nibbles.plus_16(k)
    }

    #[inline(always)]
    fn unpack(&self, integers: &mut [[f32; LANES]; GROUP]) {
        self.nibbles.unpack_plus_16(integers);
    }

    #[inline(always)]
    fn scales<I: Isa>(&self, _: usize) -> [f32; LANES] {
        self.scales
    }

    #[inline(always)]
    fn add_rounded<I: Isa>(&self, x: &[RoundedGroup], acc: &mut [[f32; LANES]]) {
        I::add_nibbles::<0>(&self.nibbles.0, &self.scales, x, acc);
    }

    #[inline(always)]
    fn add_rounded_row<I: Isa>(&self, x: &RoundedGroup, acc: &mut [f32; LANES]) {
        I::add_nibbles_of_row::<0>(&self.nibbles.0, &self.scales, x, acc);
    }

    #[inline(always)]
    fn scale(&self, _: usize, output: usize) -> f32 {
        self.scales[output]
    }

    #[inline(always)]
    fn mins(&self) -> Option<&[f32; LANES]> {
        Some(&self.mins)
    }
}
