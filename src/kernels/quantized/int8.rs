//! 8 bits: integers, and floating point in E4M3.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use half::f16;

use super::{GROUP, Group, LANES, Packed, PackedIntegers, RoundedGroup, ScalesAndMins};
use crate::kernels::microkernel::{multiply_add, vectors};
use crate::kernels::number::Number;
use crate::kernels::simd::{Isa, WIDTH};

// ANCHOR: int8
/// For each `k` the weights of 32 outputs: integers, or codes of E4M3.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Bytes<const E4M3: bool>([[i8; LANES]; GROUP]);

/// 8.5 bits for each weight.
pub type Int8 = Packed<[f16; LANES], Bytes<false>>;
// ANCHOR_END: int8

/// 10 bits for each weight.
pub type Int8Min = Packed<ScalesAndMins, Bytes<false>>;

/// 10 bits for each weight.
pub type Int8Halves = Packed<[[f32; LANES]; 2], Bytes<false>>;

/// 9 bits for each weight.
pub type Fp8 = Packed<[f32; LANES], Bytes<true>>;

/// A number of E4M3, divided by 256, as f16: the exponent has a bit more there, and a bias that is greater by 8.
/// Codes that are no number become others.
#[inline(always)]
fn half(code: i8) -> f16 {
    /// All bits but the highest of the exponent, where the shift leaves a copy of the sign.
    const KEPT: u16 = 0xbfff;
    f16::from_bits((i16::from(code) << 7) as u16 & KEPT)
}

impl<const E4M3: bool> Bytes<E4M3> {
    /// 16 weights.
    #[inline(always)]
    fn widen<I: Isa>(bytes: &[i8; WIDTH]) -> I::Vector {
        if !E4M3 {
            return I::widen_i8(bytes);
        }
        // A loop, since the compiler keeps `map` of an array as a call.
        let mut halves = [f16::ZERO; WIDTH];
        for (half_of_code, code) in halves.iter_mut().zip(bytes) {
            *half_of_code = half(*code);
        }
        I::widen_f16(&halves)
    }
}

impl<const E4M3: bool> PackedIntegers for Bytes<E4M3> {
    fn pack(groups: &[Group; LANES]) -> Self {
        let mut integers = [[0; LANES]; GROUP];
        for (lane, group) in groups.iter().enumerate() {
            for (integers, integer) in integers.iter_mut().zip(group.integers) {
                integers[lane] = integer;
            }
        }
        Self(integers)
    }

    #[inline(always)]
    fn get(&self, k: usize) -> [f32; LANES] {
        let mut numbers = [0.0; LANES];
        for (number, byte) in numbers.iter_mut().zip(&self.0[k]) {
            *number = if E4M3 {
                half(*byte).widen_one()
            } else {
                f32::from(*byte)
            };
        }
        numbers
    }

    #[inline(always)]
    fn unpack<I: Isa>(&self, numbers: &mut [[f32; LANES]; GROUP]) {
        let (numbers, _) = numbers.as_flattened_mut().as_chunks_mut::<WIDTH>();
        let (integers, _) = self.0.as_flattened().as_chunks::<WIDTH>();
        for (numbers, integers) in numbers.iter_mut().zip(integers) {
            I::store(Self::widen::<I>(integers), numbers);
        }
    }

    #[inline(always)]
    fn multiply<I: Isa, const M: usize, const P: usize, const V: usize>(
        integers: [&Self; P],
        first: usize,
        of_part: Range<usize>,
        x: &[[f32; M]; GROUP],
        sums: &mut [[[I::Vector; V]; M]; P],
    ) {
        let x = &x[of_part.clone()];
        let mut parts: [&[_]; P] = [&[]; P];
        for p in 0..P {
            parts[p] = &integers[p].0[of_part.clone()][..x.len()];
        }
        for k in 0..x.len() {
            for p in 0..P {
                let mut numbers = [I::splat(0.0); V];
                for v in 0..V {
                    numbers[v] = Self::widen::<I>(&vectors(&parts[p][k])[first + v]);
                }
                multiply_add::<I, M, V>(&mut sums[p], numbers, &x[k]);
            }
        }
    }

    #[inline(always)]
    fn add_rounded<I: Isa, const PARTS: usize>(
        &self,
        scales: &[[f32; LANES]; PARTS],
        x: &[RoundedGroup],
        acc: &mut [[f32; LANES]],
    ) {
        assert!(!E4M3, "`Activations::fit` says that there are no such products");
        I::add_bytes(&self.0, scales, x, acc);
    }

    #[inline(always)]
    fn add_rounded_row<I: Isa, const PARTS: usize>(
        &self,
        scales: &[[f32; LANES]; PARTS],
        x: &RoundedGroup,
        acc: &mut [f32; LANES],
    ) {
        assert!(!E4M3, "`Activations::fit` says that there are no such products");
        I::add_bytes_of_row(&self.0, scales, x, acc);
    }
}
