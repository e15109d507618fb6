//! 4-bit integers.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use half::f16;

use super::{GROUP, Group, LANES, Packed, PackedIntegers, RoundedGroup, ScalesAndMins};
use crate::kernels::microkernel::{multiply_add, vectors};
use crate::kernels::simd::{Isa, WIDTH, nibble_plus_16};

/// Integers in the 32 bits of one output.
pub(super) const NIBBLES: usize = 8;

// ANCHOR: int4
/// For each 8 consecutive `k`, and each output: 8 integers from 0 to 15, the first in the lowest
/// bits. `ADDED` was added to each.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(transparent)]
pub struct Nibbles<const ADDED: i32>([[u32; LANES]; GROUP / NIBBLES]);

/// 4.5 bits for each weight.
pub type Int4 = Packed<[f16; LANES], Nibbles<8>>;
// ANCHOR_END: int4

/// 6 bits for each weight.
pub type Int4Min = Packed<ScalesAndMins, Nibbles<0>>;

impl<const ADDED: i32> PackedIntegers for Nibbles<ADDED> {
    /// 16 for the conversion.
    const OFFSET: f32 = (16 + ADDED) as f32;

    fn pack(groups: &[Group; LANES]) -> Self {
        let mut nibbles = [[0; LANES]; GROUP / NIBBLES];
        for (lane, group) in groups.iter().enumerate() {
            for (k, integer) in group.integers.iter().enumerate() {
                let nibble = (i32::from(*integer) + ADDED) as u32 & 15;
                nibbles[k / NIBBLES][lane] |= nibble << (4 * (k % NIBBLES));
            }
        }
        Self(nibbles)
    }

    #[inline(always)]
    fn get(&self, k: usize) -> [f32; LANES] {
        let mut numbers = [0.0; LANES];
        for (number, word) in numbers.iter_mut().zip(&self.0[k / NIBBLES]) {
            *number = nibble_plus_16(*word, 4 * (k % NIBBLES) as u32);
        }
        numbers
    }

    #[inline(always)]
    fn unpack<I: Isa>(&self, integers: &mut [[f32; LANES]; GROUP]) {
        let (of_words, _) = integers.as_chunks_mut::<NIBBLES>();
        for (words, integers) in self.0.iter().zip(of_words) {
            // Eight calls and no loop: each shifts by a constant.
            widen::<I, 0>(words, &mut integers[0]);
            widen::<I, 4>(words, &mut integers[1]);
            widen::<I, 8>(words, &mut integers[2]);
            widen::<I, 12>(words, &mut integers[3]);
            widen::<I, 16>(words, &mut integers[4]);
            widen::<I, 20>(words, &mut integers[5]);
            widen::<I, 24>(words, &mut integers[6]);
            widen::<I, 28>(words, &mut integers[7]);
        }
    }

    #[inline(always)]
    fn multiply<I: Isa, const M: usize, const P: usize, const V: usize>(
        nibbles: [&Self; P],
        first: usize,
        _: Range<usize>,
        x: &[[f32; M]; GROUP],
        sums: &mut [[[I::Vector; V]; M]; P],
    ) {
        let (words_of_x, _) = x.as_chunks::<NIBBLES>();
        for (word, x) in words_of_x.iter().enumerate() {
            let mut words = [&[[0; WIDTH]; LANES / WIDTH]; P];
            for p in 0..P {
                words[p] = vectors(&nibbles[p].0[word]);
            }
            // Eight calls and no loop: each shifts by a constant.
            add::<I, M, P, V, 0>(words, first, &x[0], sums);
            add::<I, M, P, V, 4>(words, first, &x[1], sums);
            add::<I, M, P, V, 8>(words, first, &x[2], sums);
            add::<I, M, P, V, 12>(words, first, &x[3], sums);
            add::<I, M, P, V, 16>(words, first, &x[4], sums);
            add::<I, M, P, V, 20>(words, first, &x[5], sums);
            add::<I, M, P, V, 24>(words, first, &x[6], sums);
            add::<I, M, P, V, 28>(words, first, &x[7], sums);
        }
    }

    #[inline(always)]
    fn add_rounded<I: Isa, const PARTS: usize>(
        &self,
        scales: &[[f32; LANES]; PARTS],
        x: &[RoundedGroup],
        acc: &mut [[f32; LANES]],
    ) {
        I::add_nibbles::<ADDED>(&self.0, &scales[0], x, acc);
    }

    #[inline(always)]
    fn add_rounded_row<I: Isa, const PARTS: usize>(
        &self,
        scales: &[[f32; LANES]; PARTS],
        x: &RoundedGroup,
        acc: &mut [f32; LANES],
    ) {
        I::add_nibbles_of_row::<ADDED>(&self.0, &scales[0], x, acc);
    }
}

/// The nibbles that begin at `BIT`, plus 16.
#[inline(always)]
fn widen<I: Isa, const BIT: u32>(words: &[u32; LANES], integers: &mut [f32; LANES]) {
    let (integers, _) = integers.as_chunks_mut::<WIDTH>();
    for (words, integers) in vectors(words).iter().zip(integers) {
        I::store(I::widen_nibbles::<BIT>(words), integers);
    }
}

/// Adds the products of the nibbles that begin at `BIT`.
#[inline(always)]
fn add<I: Isa, const M: usize, const P: usize, const V: usize, const BIT: u32>(
    words: [&[[u32; WIDTH]; LANES / WIDTH]; P],
    first: usize,
    x: &[f32; M],
    sums: &mut [[[I::Vector; V]; M]; P],
) {
    for p in 0..P {
        let mut integers = [I::splat(0.0); V];
        for v in 0..V {
            integers[v] = I::widen_nibbles::<BIT>(&words[p][first + v]);
        }
        multiply_add::<I, M, V>(&mut sums[p], integers, x);
    }
}
