//! Products of quantized panels with activations that are rounded to 8-bit integers.
//!
//! A group of activations gets a scale, as a group of weights has one. The products of integers are
//! then summed as integers, which is exact in any order, so that every instruction set gives the same
//! bits. Only the sums of groups are f32, and these are added in order.

#[cfg(target_arch = "x86_64")]
mod x86;

use std::array;

use super::int4::NIBBLES;
use super::product::subtract_mins;
use super::{GROUP, LANES, PackedGroups};
use crate::kernels::microkernel::prefetch;
use crate::kernels::simd::{Isa, fma};

/// The rows that are multiplied with a group of weights while it is unpacked in registers.
pub const ROWS: usize = 16;

/// 32 activations of one row, rounded: `scale * integer`, in the orders in which instructions want
/// the integers.
#[derive(Clone, Copy)]
pub struct RoundedGroup {
    scale: f32,
    /// The sum of the integers of each half of the group.
    sums: [i32; 2],
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
        sums: [0; 2],
        quads: [[0; 4]; GROUP / 4],
        nibble_quads: [[0; 4]; GROUP / 4],
    };

    // ANCHOR: round
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
        let mut group = Self {
            scale,
            sums: [0; 2],
            quads: array::from_fn(|i| array::from_fn(|j| integers[4 * i + j] as i8)),
            nibble_quads: array::from_fn(|i| {
                let first = i / 2 * NIBBLES + i % 2;
                array::from_fn(|j| integers[first + 2 * j] as i8)
            }),
        };
        for (sum, half) in group.sums.iter_mut().zip(integers.as_chunks::<{ GROUP / 2 }>().0) {
            *sum = half.iter().map(|integer| i32::from(*integer)).sum();
        }
        group
    }
    // ANCHOR_END: round

    /// The sum of the rounded activations.
    #[inline(always)]
    fn sum(&self) -> f32 {
        self.scale * (self.sums[0] + self.sums[1]) as f32
    }

    /// The `k`-th integer.
    #[inline(always)]
    fn integer(&self, k: usize) -> i32 {
        i32::from(self.quads[k / 4][k % 4])
    }
}

/// The sums of products of 32 outputs, for each half of a group, or, where the whole has one scale,
/// in the first.
pub type PartDots = [[i32; LANES]; 2];

/// Sums of products of integers, exact. The provided methods are for instruction sets that have no
/// instruction for them.
pub trait Dots {
    // ANCHOR: bytes
    /// The products of a group of 32 outputs, `[k][outputs]`, with each of some rows, for each of
    /// `PARTS` parts of the group.
    #[inline(always)]
    fn bytes<const PARTS: usize>(
        weights: &[[i8; LANES]; GROUP],
        x: &[RoundedGroup],
        dots: &mut [PartDots],
    ) {
        for (x, dots) in x.iter().zip(dots) {
            *dots = [[0; LANES]; 2];
            for (k, weights) in weights.iter().enumerate() {
                let dots = &mut dots[k * PARTS / GROUP];
                for (dot, weight) in dots.iter_mut().zip(weights) {
                    *dot += i32::from(*weight) * x.integer(k);
                }
            }
        }
    }
    // ANCHOR_END: bytes

    /// The same for nibbles, from 0 to 15.
    #[inline(always)]
    fn nibbles(
        weights: &[[u32; LANES]; GROUP / NIBBLES],
        x: &[RoundedGroup],
        dots: &mut [PartDots],
    ) {
        for (x, [dots, _]) in x.iter().zip(dots) {
            *dots = [0; LANES];
            for k in 0..GROUP {
                for (dot, nibbles) in dots.iter_mut().zip(&weights[k / NIBBLES]) {
                    let nibble = nibbles >> (4 * (k % NIBBLES)) & 15;
                    *dot += nibble as i32 * x.integer(k);
                }
            }
        }
    }
}

// ANCHOR: rounded
/// The products of `P` quantized panels with up to [`ROWS`] rows of rounded activations,
/// `[groups][rows]`: `acc` is `[rows][panels]`, and all zeros before.
#[inline(always)]
pub fn rounded<I: Isa, G: PackedGroups, const P: usize>(
    panels: [&[G]; P],
    x: &[RoundedGroup],
    acc: &mut [[[f32; LANES]; P]],
) {
    /// Groups. All of a group is read before any of it is multiplied, so the processor sees the next
    /// one late.
    const AHEAD: usize = 2;
    // One memory for all groups: to clear so much for each would take longer than to fill it.
    let mut dots = [[[0; LANES]; 2]; ROWS];
    let dots = &mut dots[..acc.len()];
    for (g, x) in x.chunks_exact(dots.len()).enumerate() {
        for (p, panel) in panels.iter().enumerate() {
            prefetch(std::ptr::from_ref(&panel[g]).wrapping_add(AHEAD));
            panel[g].dots::<I>(x, dots);
            let scales = [panel[g].scales::<I>(0), panel[g].scales::<I>(G::PARTS - 1)];
            for ((x, dots), acc) in x.iter().zip(&*dots).zip(&mut *acc) {
                add_dots::<G>(&mut acc[p], x, dots, &scales);
                subtract_mins(&mut acc[p], panel[g].mins(), x.sum());
            }
        }
    }
}

/// Adds a group's sums of products, times the scales of both, to `acc`.
#[inline(always)]
fn add_dots<G: PackedGroups>(
    acc: &mut [f32; LANES],
    x: &RoundedGroup,
    dots: &PartDots,
    scales: &[[f32; LANES]; 2],
) {
    for part in 0..G::PARTS {
        let sum = if G::PARTS == 1 {
            x.sums[0] + x.sums[1]
        } else {
            x.sums[part]
        };
        for lane in 0..LANES {
            let dot = dots[part][lane] - G::STORED_OFFSET * sum;
            acc[lane] = fma(scales[part][lane] * x.scale, dot as f32, acc[lane]);
        }
    }
}
// ANCHOR_END: rounded
