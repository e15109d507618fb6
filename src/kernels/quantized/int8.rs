//! 8-bit integers.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use half::f16;

use super::{
    GROUP, Group, GroupFormat, LANES, PackedGroups, PackedIntegers, RoundedGroup, widen_f16,
};
use crate::kernels::microkernel::{multiply_add, vectors};
use crate::kernels::simd::{Isa, WIDTH};

// ANCHOR: int8
/// For each `k` the integers of 32 outputs.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Integers([[i8; LANES]; GROUP]);

/// 8.5 bits for each weight.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Int8 {
    scales: [f16; LANES],
    integers: Integers,
}
// ANCHOR_END: int8

/// 10 bits for each weight.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Int8Min {
    scales: [f32; LANES],
    mins: [f32; LANES],
    integers: Integers,
}

/// 10 bits for each weight.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct Int8Halves {
    scales: [[f32; LANES]; 2],
    integers: Integers,
}

impl Integers {
    fn pack(groups: &[Group; LANES]) -> Self {
        let mut integers = [[0; LANES]; GROUP];
        for (lane, group) in groups.iter().enumerate() {
            for (integers, integer) in integers.iter_mut().zip(group.integers) {
                integers[lane] = integer;
            }
        }
        Self(integers)
    }
}

impl PackedIntegers for Integers {
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
}

impl PackedGroups for Int8 {
    type Integers = Integers;

    const FORMAT: GroupFormat = GroupFormat::Int8;

    fn pack(groups: &[Group; LANES]) -> Self {
        let scales = groups.each_ref().map(|group| f16::from_f32(group.scales[0]));
        Self { scales, integers: Integers::pack(groups) }
    }

    #[inline(always)]
    fn integers(&self) -> &Integers {
        &self.integers
    }

    #[inline(always)]
    fn scales<I: Isa>(&self, _: usize) -> [f32; LANES] {
        widen_f16::<I>(&self.scales)
    }

    #[inline(always)]
    fn add_rounded<I: Isa>(&self, x: &[RoundedGroup], acc: &mut [[f32; LANES]]) {
        I::add_bytes(&self.integers.0, &[self.scales::<I>(0)], x, acc);
    }

    #[inline(always)]
    fn add_rounded_row<I: Isa>(&self, x: &RoundedGroup, acc: &mut [f32; LANES]) {
        I::add_bytes_of_row(&self.integers.0, &[self.scales::<I>(0)], x, acc);
    }

    #[inline(always)]
    fn scale(&self, _: usize, output: usize) -> f32 {
        self.scales[output].to_f32()
    }
}

impl PackedGroups for Int8Min {
    type Integers = Integers;

    const FORMAT: GroupFormat = GroupFormat::Int8Min;

    fn pack(groups: &[Group; LANES]) -> Self {
        let scales = groups.each_ref().map(|group| group.scales[0]);
        let mins = groups.each_ref().map(|group| group.min);
        Self { scales, mins, integers: Integers::pack(groups) }
    }

    #[inline(always)]
    fn integers(&self) -> &Integers {
        &self.integers
    }

    #[inline(always)]
    fn scales<I: Isa>(&self, _: usize) -> [f32; LANES] {
        self.scales
    }

    #[inline(always)]
    fn add_rounded<I: Isa>(&self, x: &[RoundedGroup], acc: &mut [[f32; LANES]]) {
        I::add_bytes(&self.integers.0, &[self.scales::<I>(0)], x, acc);
    }

    #[inline(always)]
    fn add_rounded_row<I: Isa>(&self, x: &RoundedGroup, acc: &mut [f32; LANES]) {
        I::add_bytes_of_row(&self.integers.0, &[self.scales::<I>(0)], x, acc);
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

impl PackedGroups for Int8Halves {
    type Integers = Integers;

    const FORMAT: GroupFormat = GroupFormat::Int8Halves;
    const PARTS: usize = 2;

    fn pack(groups: &[Group; LANES]) -> Self {
        let scales = [0, 1].map(|half| groups.each_ref().map(|group| group.scales[half]));
        Self { scales, integers: Integers::pack(groups) }
    }

    #[inline(always)]
    fn integers(&self) -> &Integers {
        &self.integers
    }

    #[inline(always)]
    fn scales<I: Isa>(&self, part: usize) -> [f32; LANES] {
        self.scales[part]
    }

    #[inline(always)]
    fn add_rounded<I: Isa>(&self, x: &[RoundedGroup], acc: &mut [[f32; LANES]]) {
        I::add_bytes(&self.integers.0, &self.scales, x, acc);
    }

    #[inline(always)]
    fn add_rounded_row<I: Isa>(&self, x: &RoundedGroup, acc: &mut [f32; LANES]) {
        I::add_bytes_of_row(&self.integers.0, &self.scales, x, acc);
    }

    #[inline(always)]
    fn scale(&self, part: usize, output: usize) -> f32 {
        self.scales[part][output]
    }
}
