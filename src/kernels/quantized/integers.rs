//! Products of quantized panels with activations that are rounded to 8-bit integers.
//!
//! A group of activations gets a scale, as a group of weights has one. The products of integers are
//! then summed as integers, which is exact in any order, so that every instruction set gives the same
//! bits. Only the sums of groups are f32, and these are added in order.

#[cfg(target_arch = "aarch64")]
mod arm;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::{array, slice};

use super::int4::NIBBLES;
use super::product::subtract_mins;
use super::{GROUP, LANES, PackedGroups};
use crate::kernels::microkernel::prefetch;
use crate::kernels::simd::{Isa, fma};

/// The rows that are multiplied with a group of weights while it is unpacked in registers.
pub const ROWS: usize = 32;

/// 32 activations of one row, rounded: `scale * integer`, in the orders in which instructions want
/// the integers.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // read by instructions that others lack
pub struct RoundedGroup {
    scale: f32,
    /// The sum of the integers of each half of the group, times -128.
    minus_128: [i32; 2],
    /// The sum of all integers, times -8.
    minus_8: i32,
    /// In fours.
    quads: [[i8; 4]; GROUP / 4],
    /// In fours, as [`Int4`](super::Int4) has weights in its words: the lower nibbles of the bytes of
    /// a word are the first, third, fifth and seventh of eight integers, the upper ones the others.
    nibble_quads: [[i8; 4]; GROUP / 4],
}

impl RoundedGroup {
    /// A group of zeros.
    pub const ZERO: Self = Self {
        scale: 0.0,
        minus_128: [0; 2],
        minus_8: 0,
        quads: [[0; 4]; GROUP / 4],
        nibble_quads: [[0; 4]; GROUP / 4],
    };

    /// Rounds activations to multiples of a scale, to nearest. The activation of greatest magnitude
    /// becomes 127 or -127.
    ///
    /// Where one is not finite, the scale is NaN, and so is every product. A group whose scale would
    /// be too small to be divided by becomes zeros.
    #[inline(always)]
    pub fn new(x: &[f32; GROUP]) -> Self {
        /// Added to a number of small magnitude, it leaves the nearest integer in the lowest bits.
        /// The compiler makes vector instructions of that, and of a conversion that checks the range
        /// it does not.
        const ROUND: f32 = 1.5 * (1 << 23) as f32;
        const MOST: f32 = 127.0;
        // The bits of positive numbers are in the order of the numbers, with infinity and NaN last.
        let magnitude = x.iter().fold(0, |most, x| most.max(x.abs().to_bits()));
        let magnitude = f32::from_bits(magnitude);
        let scale = if magnitude.is_finite() {
            magnitude / MOST
        } else {
            f32::NAN
        };
        let inverse = 1.0 / scale;
        let inverse = if inverse.is_finite() { inverse } else { 0.0 };
        let rounded = |x: f32| {
            let bits = (x * inverse + ROUND).to_bits();
            bits.wrapping_sub(ROUND.to_bits()) as i16
        };
        let integers = x.map(rounded);
        let sums = integers.as_chunks::<{ GROUP / 2 }>().0;
        let sums = [0, 1].map(|half| sums[half].iter().map(|x| i32::from(*x)).sum::<i32>());
        Self {
            scale,
            minus_128: sums.map(|sum| -128 * sum),
            minus_8: -8 * (sums[0] + sums[1]),
            quads: array::from_fn(|i| array::from_fn(|j| integers[4 * i + j] as i8)),
            nibble_quads: array::from_fn(|i| {
                let first = i / 2 * NIBBLES + i % 2;
                array::from_fn(|j| integers[first + 2 * j] as i8)
            }),
        }
    }

    /// The sum of the rounded activations.
    #[inline(always)]
    fn sum(&self) -> f32 {
        self.scale * (self.minus_8 / -8) as f32
    }

    /// The `k`-th integer.
    #[inline(always)]
    fn integer(&self, k: usize) -> i32 {
        i32::from(self.quads[k / 4][k % 4])
    }
}

/// Products with rounded activations. Those of a group are summed as integers, exactly. The provided
/// methods are for instruction sets that have no instruction for that.
pub trait IntegerProducts {
    // ANCHOR: bytes
    /// Adds the products of a group of 32 outputs, `[k][outputs]`, with each of some rows to `acc`,
    /// `[rows][outputs]`. `scales` are those of each of `PARTS` parts of the group.
    #[inline(always)]
    fn add_bytes<const PARTS: usize>(
        weights: &[[i8; LANES]; GROUP],
        scales: &[[f32; LANES]; PARTS],
        x: &[RoundedGroup],
        acc: &mut [[f32; LANES]],
    ) {
        for (x, acc) in x.iter().zip(acc) {
            let parts = scales.iter().zip(weights.chunks_exact(GROUP / PARTS));
            for (part, (scales, weights)) in parts.enumerate() {
                let mut sums = [0; LANES];
                for (k, weights) in (part * GROUP / PARTS..).zip(weights) {
                    for (sum, weight) in sums.iter_mut().zip(weights) {
                        *sum += i32::from(*weight) * x.integer(k);
                    }
                }
                add_scaled(acc, scales, x.scale, &sums);
            }
        }
    }
    // ANCHOR_END: bytes

    /// The same for nibbles, from 0 to 15, of which each stands for an integer that is `OFFSET` less:
    /// 8 or 0.
    #[inline(always)]
    fn add_nibbles<const OFFSET: i32>(
        weights: &[[u32; LANES]; GROUP / NIBBLES],
        scales: &[f32; LANES],
        x: &[RoundedGroup],
        acc: &mut [[f32; LANES]],
    ) {
        for (x, acc) in x.iter().zip(acc) {
            let mut sums = [0; LANES];
            for k in 0..GROUP {
                for (sum, nibbles) in sums.iter_mut().zip(&weights[k / NIBBLES]) {
                    let nibble = nibbles >> (4 * (k % NIBBLES)) & 15;
                    *sum += (nibble as i32 - OFFSET) * x.integer(k);
                }
            }
            add_scaled(acc, scales, x.scale, &sums);
        }
    }

    /// [`add_bytes`](Self::add_bytes) for one row.
    #[inline(always)]
    fn add_bytes_of_row<const PARTS: usize>(
        weights: &[[i8; LANES]; GROUP],
        scales: &[[f32; LANES]; PARTS],
        x: &RoundedGroup,
        acc: &mut [f32; LANES],
    ) {
        Self::add_bytes(weights, scales, slice::from_ref(x), slice::from_mut(acc));
    }

    /// [`add_nibbles`](Self::add_nibbles) for one row.
    #[inline(always)]
    fn add_nibbles_of_row<const OFFSET: i32>(
        weights: &[[u32; LANES]; GROUP / NIBBLES],
        scales: &[f32; LANES],
        x: &RoundedGroup,
        acc: &mut [f32; LANES],
    ) {
        Self::add_nibbles::<OFFSET>(weights, scales, slice::from_ref(x), slice::from_mut(acc));
    }
}

/// The products of a quantized panel with one row of rounded activations.
#[inline(always)]
pub fn single_rounded<I: Isa, G: PackedGroups>(panel: &[G], x: &[RoundedGroup]) -> [f32; LANES] {
    /// How many groups ahead they are prefetched: about 6 KiB of 8 bits, or 3 KiB of 4.
    const AHEAD: usize = 6;
    let mut acc = [0.0; LANES];
    for (group, x) in panel.iter().zip(x) {
        prefetch(std::ptr::from_ref(group).wrapping_add(AHEAD));
        group.add_rounded_row::<I>(x, &mut acc);
        subtract_mins(&mut acc, group.mins(), x.sum());
    }
    acc
}

/// Adds the products of a quantized panel with up to [`ROWS`] rows of rounded activations,
/// `[groups][rows]`, to `acc`, `[rows][outputs]`.
#[inline(always)]
pub fn rounded<I: Isa, G: PackedGroups>(panel: &[G], x: &[RoundedGroup], acc: &mut [[f32; LANES]]) {
    for (group, x) in panel.iter().zip(x.chunks_exact(acc.len())) {
        prefetch(std::ptr::from_ref(group).wrapping_add(1));
        group.add_rounded::<I>(x, acc);
        for (acc, x) in acc.iter_mut().zip(x) {
            subtract_mins(acc, group.mins(), x.sum());
        }
    }
}

// ANCHOR: add_scaled
/// Adds sums of integers, times the scales of weights and activations, to `acc`.
#[inline(always)]
fn add_scaled(acc: &mut [f32; LANES], scales: &[f32; LANES], x_scale: f32, sums: &[i32; LANES]) {
    for lane in 0..LANES {
        acc[lane] = fma(scales[lane] * x_scale, sums[lane] as f32, acc[lane]);
    }
}
// ANCHOR_END: add_scaled
