//! Floating point in 4 bits: E2M1.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use half::bf16;

use super::{GROUP, Group, LANES, Packed, PackedIntegers, RoundedGroup};
use crate::kernels::microkernel::{multiply_add, vectors};
use crate::kernels::simd::{Isa, WIDTH};

/// Twice the numbers of E2M1, by their codes, so that all are integers: a sign, 2 bits of an exponent, and
/// one of a fraction.
pub const E2M1_DOUBLED: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// For each two consecutive `k`, the codes of 32 outputs: that of the first in the lower half of a byte.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Codes([[u8; LANES]; GROUP / 2]);

/// 4.5 bits for each weight.
pub type Mxfp4 = Packed<[bf16; LANES], Codes>;

/// 6 bits for each weight.
pub type Nvfp4 = Packed<[[f32; LANES]; 2], Codes>;

impl Codes {
    /// The integers, as the kernels of rounded activations want them.
    #[inline(always)]
    fn integers<I: Isa>(&self) -> [[i8; LANES]; GROUP] {
        let mut integers = [[0; LANES]; GROUP];
        let (pairs, _) = integers.as_chunks_mut::<2>();
        for (pair, codes) in pairs.iter_mut().zip(&self.0) {
            for (v, codes) in vectors(codes).iter().enumerate() {
                let of_vector = v * WIDTH..(v + 1) * WIDTH;
                let [lower, upper] = I::look_up_e2m1(codes);
                pair[0][of_vector.clone()].copy_from_slice(&lower);
                pair[1][of_vector].copy_from_slice(&upper);
            }
        }
        integers
    }
}

impl PackedIntegers for Codes {
    fn pack(groups: &[Group; LANES]) -> Self {
        let code = |integer| E2M1_DOUBLED.iter().position(|number| *number == integer);
        let mut codes = [[0; LANES]; GROUP / 2];
        for (lane, group) in groups.iter().enumerate() {
            for (k, integer) in group.integers.into_iter().enumerate() {
                let code = code(integer).expect("a number of E2M1, doubled") as u8;
                codes[k / 2][lane] |= code << (4 * (k % 2));
            }
        }
        Self(codes)
    }

    #[inline(always)]
    fn get(&self, k: usize) -> [f32; LANES] {
        let mut numbers = [0.0; LANES];
        for (number, codes) in numbers.iter_mut().zip(&self.0[k / 2]) {
            let code = codes >> (4 * (k % 2)) & 15;
            *number = f32::from(E2M1_DOUBLED[usize::from(code)]);
        }
        numbers
    }

    #[inline(always)]
    fn unpack<I: Isa>(&self, numbers: &mut [[f32; LANES]; GROUP]) {
        let (pairs, _) = numbers.as_chunks_mut::<2>();
        for ([lower, upper], codes) in pairs.iter_mut().zip(&self.0) {
            let (lower, _) = lower.as_chunks_mut::<WIDTH>();
            let (upper, _) = upper.as_chunks_mut::<WIDTH>();
            for ((lower, upper), codes) in lower.iter_mut().zip(upper).zip(vectors(codes)) {
                let [first, second] = I::widen_e2m1(codes);
                I::store(first, lower);
                I::store(second, upper);
            }
        }
    }

    #[inline(always)]
    fn multiply<I: Isa, const M: usize, const P: usize, const V: usize>(
        codes: [&Self; P],
        first: usize,
        of_part: Range<usize>,
        x: &[[f32; M]; GROUP],
        sums: &mut [[[I::Vector; V]; M]; P],
    ) {
        let (x, _) = x[of_part.clone()].as_chunks::<2>();
        let of_part = of_part.start / 2..of_part.end / 2;
        let mut parts: [&[_]; P] = [&[]; P];
        for p in 0..P {
            parts[p] = &codes[p].0[of_part.clone()][..x.len()];
        }
        for pair in 0..x.len() {
            for p in 0..P {
                let mut numbers = [[I::splat(0.0); V]; 2];
                for v in 0..V {
                    let [lower, upper] = I::widen_e2m1(&vectors(&parts[p][pair])[first + v]);
                    numbers[0][v] = lower;
                    numbers[1][v] = upper;
                }
                multiply_add::<I, M, V>(&mut sums[p], numbers[0], &x[pair][0]);
                multiply_add::<I, M, V>(&mut sums[p], numbers[1], &x[pair][1]);
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
        I::add_bytes(&self.integers::<I>(), scales, x, acc);
    }

    #[inline(always)]
    fn add_rounded_row<I: Isa, const PARTS: usize>(
        &self,
        scales: &[[f32; LANES]; PARTS],
        x: &RoundedGroup,
        acc: &mut [f32; LANES],
    ) {
        I::add_bytes_of_row(&self.integers::<I>(), scales, x, acc);
    }
}
