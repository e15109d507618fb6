//! Floating point in 8 bits: E4M3.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use half::f16;

use super::{GROUP, Group, LANES, Packed, PackedIntegers, RoundedGroup};
use crate::kernels::microkernel::{multiply_add, vectors};
use crate::kernels::number::Number;
use crate::kernels::simd::{Isa, WIDTH};

/// For each `k` the codes of 32 outputs.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Codes([[i8; LANES]; GROUP]);

/// 9 bits for each weight.
pub type Fp8 = Packed<[f32; LANES], Codes>;

/// A number of E4M3, divided by 256, as f16: the exponent has a bit more there, and a bias that is greater by 8.
/// Codes that are no number become others.
#[inline(always)]
fn half(code: i8) -> f16 {
    /// All bits but the highest of the exponent, where the shift leaves a copy of the sign.
    const KEPT: u16 = 0xbfff;
    f16::from_bits((i16::from(code) << 7) as u16 & KEPT)
}

/// 16 numbers of E4M3, divided by 256.
#[inline(always)]
fn widen<I: Isa>(codes: &[i8; WIDTH]) -> I::Vector {
    // A loop, since the compiler keeps `map` of an array as a call.
    let mut halves = [f16::ZERO; WIDTH];
    for (half_of_code, code) in halves.iter_mut().zip(codes) {
        *half_of_code = half(*code);
    }
    I::widen_f16(&halves)
}

/// Numbers that are no integers.
impl PackedIntegers for Codes {
    fn pack(groups: &[Group; LANES]) -> Self {
        let mut codes = [[0; LANES]; GROUP];
        for (lane, group) in groups.iter().enumerate() {
            for (codes, code) in codes.iter_mut().zip(group.integers) {
                codes[lane] = code;
            }
        }
        Self(codes)
    }

    #[inline(always)]
    fn get(&self, k: usize) -> [f32; LANES] {
        let mut numbers = [0.0; LANES];
        for (number, code) in numbers.iter_mut().zip(&self.0[k]) {
            *number = half(*code).widen_one();
        }
        numbers
    }

    #[inline(always)]
    fn unpack<I: Isa>(&self, numbers: &mut [[f32; LANES]; GROUP]) {
        let (numbers, _) = numbers.as_flattened_mut().as_chunks_mut::<WIDTH>();
        let (codes, _) = self.0.as_flattened().as_chunks::<WIDTH>();
        for (numbers, codes) in numbers.iter_mut().zip(codes) {
            I::store(widen::<I>(codes), numbers);
        }
    }

    #[inline(always)]
    fn multiply<I: Isa, const M: usize, const P: usize, const V: usize>(
        codes: [&Self; P],
        first: usize,
        _: Range<usize>,
        x: &[[f32; M]; GROUP],
        sums: &mut [[[I::Vector; V]; M]; P],
    ) {
        for k in 0..GROUP {
            for p in 0..P {
                let mut numbers = [I::splat(0.0); V];
                for v in 0..V {
                    numbers[v] = widen::<I>(&vectors(&codes[p].0[k])[first + v]);
                }
                multiply_add::<I, M, V>(&mut sums[p], numbers, &x[k]);
            }
        }
    }

    fn add_rounded<I: Isa, const PARTS: usize>(
        &self,
        _: &[[f32; LANES]; PARTS],
        _: &[RoundedGroup],
        _: &mut [[f32; LANES]],
    ) {
        unreachable!("`Activations::fit` says that there are no such products")
    }

    fn add_rounded_row<I: Isa, const PARTS: usize>(
        &self,
        _: &[[f32; LANES]; PARTS],
        _: &RoundedGroup,
        _: &mut [f32; LANES],
    ) {
        unreachable!("`Activations::fit` says that there are no such products")
    }
}
