//! 8-bit integers.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use half::f16;

use super::{GROUP, Group, LANES, Packed, PackedIntegers, RoundedGroup, ScalesAndMins};
use crate::kernels::microkernel::{multiply_add, vectors};
use crate::kernels::simd::{Isa, WIDTH};

// ANCHOR: int8
/// For each `k` the integers of 32 outputs.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Integers([[i8; LANES]; GROUP]);

/// 8.5 bits for each weight.
pub type Int8 = Packed<[f16; LANES], Integers>;
// ANCHOR_END: int8

/// 10 bits for each weight.
pub type Int8Min = Packed<ScalesAndMins, Integers>;

/// 10 bits for each weight.
pub type Int8Halves = Packed<[[f32; LANES]; 2], Integers>;

impl PackedIntegers for Integers {
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
        for (number, integer) in numbers.iter_mut().zip(&self.0[k]) {
            *number = f32::from(*integer);
        }
        numbers
    }

    #[inline(always)]
    fn unpack<I: Isa>(&self, numbers: &mut [[f32; LANES]; GROUP]) {
        let (numbers, _) = numbers.as_flattened_mut().as_chunks_mut::<WIDTH>();
        let (integers, _) = self.0.as_flattened().as_chunks::<WIDTH>();
        for (numbers, integers) in numbers.iter_mut().zip(integers) {
            I::store(I::widen_i8(integers), numbers);
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
                    numbers[v] = I::widen_i8(&vectors(&parts[p][k])[first + v]);
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
        I::add_bytes(&self.0, scales, x, acc);
    }

    #[inline(always)]
    fn add_rounded_row<I: Isa, const PARTS: usize>(
        &self,
        scales: &[[f32; LANES]; PARTS],
        x: &RoundedGroup,
        acc: &mut [f32; LANES],
    ) {
        I::add_bytes_of_row(&self.0, scales, x, acc);
    }
}
