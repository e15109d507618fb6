//! Products of weights and activations that are both in bf16, in the order in which a matrix unit adds
//! them up.
//!
//! Intel's AMX has an instruction, `TDPBF16PS`, that multiplies tiles of 32 inputs, and its order of
//! sums cannot be chosen. So that order is the definition here, and every other instruction set follows
//! it. For each 32 inputs ([`DEPTH`]):
//!
//! 1. The products of the even inputs are summed, from zero and in order, by fused multiply-add.
//! 2. Those of the odd inputs are too.
//! 3. The two sums are added, and what comes out is added to the output.
//!
//! All are numbers in f32, rounded to nearest, ties to even. (Intel 64 and IA-32 Architectures Software
//! Developer's Manual, volume 2, TDPBF16PS: `temp1[2n]` and `temp1[2n + 1]`.)
//!
//! The product of two bf16 has 16 significant bits, and an f32 has room for 24. Unless it is too large
//! for an f32, a fused multiply-add therefore rounds as a product and a sum do, and wasm32, which has no
//! fused one, computes the same sums.
//!
//! # Subnormal numbers
//!
//! `TDPBF16PS` takes subnormal numbers as zero and makes zero of subnormal results; other processors
//! keep them, and they disagree about which results are subnormal before they are rounded. Here it makes
//! no difference, since there are none. Weights and activations whose magnitude is below 2^-56
//! ([`LEAST`]) count as zero. A bf16 has 8 significant bits, so one that remains is a multiple of 2^-63,
//! a product is a multiple of 2^-126, and so is every sum of products, rounded or not: it is 0, or at
//! least 2^-126 in magnitude, which is the least f32 that is not subnormal.
//!
//! # Other instructions for bf16
//!
//! `VDPBF16PS` of AVX-512 adds two products to each sum, one after the other, both by fused
//! multiply-add: first that of the upper halves of two words, then that of the lower ones. In the words
//! that it is meant for, an even input and the odd one behind it, that is another order. With two even
//! inputs in a word, the first in its upper half, it takes two steps of the order above, so it can
//! serve. Intel's manual says so, and on an AMD EPYC 32 million random sums had the bits of that order; a
//! processor that computes others is found out when it is first asked ([`agrees`]). The instructions of Arm (`BFDOT`, `BFMMLA`) cannot. They add the two products before
//! they add to the sum, and round to odd, or do not round in between.

#[cfg(target_arch = "x86_64")]
pub(super) mod amx;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

use std::convert::Infallible;
use std::hint::black_box;

use bytemuck::cast_slice;
use bytes::Bytes;
use half::bf16;

use super::arena::Arena;
use super::microkernel::{LANES, VECTORS, multiply_add, prefetch, vectors};
use super::simd::{Isa, WIDTH, fma, widen_one_bf16};

/// Inputs whose products are added to an output together.
pub const DEPTH: usize = 32;

/// Magnitudes below 2^-56 count as zero.
const LEAST: bf16 = bf16::from_bits((127 - 56) << 7);

/// Rounds an activation to bf16, to nearest, ties to even. What counts as zero becomes 0.
#[inline(always)]
pub fn round(x: f32) -> bf16 {
    let bits = x.to_bits();
    let rounded = (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16;
    // Rounded, a NaN could become infinite.
    let nan = (bits >> 16) as u16 | 0x40;
    without_tiny(bf16::from_bits(if x.is_nan() { nan } else { rounded }))
}

/// 0 for a number that counts as zero.
#[inline(always)]
fn without_tiny(number: bf16) -> bf16 {
    if is_tiny(number) { bf16::ZERO } else { number }
}

/// The bits of positive numbers are in the order of the numbers.
#[inline(always)]
fn is_tiny(number: bf16) -> bool {
    number.to_bits() & 0x7fff < LEAST.to_bits()
}

/// Weights, with 0 for those that count as zero. Most matrices have none, and stay where they are.
pub fn weights_without_tiny(bytes: Bytes) -> Bytes {
    let weights: &[bf16] = cast_slice(&bytes);
    if !weights.iter().any(|weight| is_tiny(*weight) && *weight != bf16::ZERO) {
        return bytes;
    }
    let Ok(bytes) = Arena::new(0).store(bytes.len(), |memory| {
        for (memory, weight) in memory.chunks_exact_mut(size_of::<bf16>()).zip(weights) {
            memory.write_copy_of_slice(&without_tiny(*weight).to_le_bytes());
        }
        Ok::<_, Infallible>(())
    });
    bytes
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // instructions are checked by it
// ANCHOR: definition
/// The definition: one output.
fn sum_in_order(weights: &[bf16], x: &[bf16]) -> f32 {
    let mut output = 0.0;
    for (weights, x) in weights.chunks(DEPTH).zip(x.chunks(DEPTH)) {
        let mut sums = [0.0; 2];
        for (k, (weight, x)) in weights.iter().zip(x).enumerate() {
            sums[k % 2] = fma(widen_one_bf16(*weight), widen_one_bf16(*x), sums[k % 2]);
        }
        output += sums[0] + sums[1];
    }
    output
}
// ANCHOR_END: definition

/// Whether an instruction computes what it should: the products of a panel, `[k][outputs]`, with a row
/// of `x`.
#[cfg(target_arch = "x86_64")]
fn agrees(multiply: impl Fn(&[[bf16; LANES]], &[f32]) -> [f32; LANES]) -> bool {
    /// Not a multiple of the depth.
    const N_IN: usize = 3 * DEPTH + 5;
    const ROUNDS: i32 = 20;
    let mut state = 0x9e37_79b9_u32;
    // Numbers that repeat, of ever more magnitudes, in the end infinite ones too.
    let mut number = |round: i32| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let exponent = (state >> 16) as i32 % (round * round + 1) - round * round / 2;
        let mantissa = 1.0 + (state & 0xffff) as f32 / 65_536.0;
        let sign = if state >> 31 == 1 { -1.0 } else { 1.0 };
        sign * mantissa * 2.0_f32.powi(exponent)
    };
    (0..ROUNDS).all(|round| {
        let mut weights = [[bf16::ZERO; N_IN]; LANES];
        for weight in weights.as_flattened_mut() {
            *weight = self::round(number(round));
        }
        let x: Vec<f32> = (0..N_IN).map(|_| number(round)).collect();
        let rounded: Vec<bf16> = x.iter().map(|x| self::round(*x)).collect();
        let mut panel = [[bf16::ZERO; LANES]; N_IN];
        for (lane, weights) in weights.iter().enumerate() {
            for (lanes, weight) in panel.iter_mut().zip(weights) {
                lanes[lane] = *weight;
            }
        }
        let found = multiply(&panel, &x);
        weights.iter().zip(found).all(|(weights, found)| {
            let expected = sum_in_order(weights, &rounded);
            found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan()
        })
    })
}

/// How instructions want activations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `[k][rows]`, as f32.
    Numbers,
    /// `[k / 4][2][rows]`: two even inputs in a word, then two odd ones, the first in its upper half.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // instructions that others lack
    Words,
}

/// Packs the rows of a pass, `[rows][n_in]`, rounded, into words. All of them are zero before.
#[inline(always)]
pub fn pack(x: &[f32], n_in: usize, form: Form, words: &mut [u32]) {
    /// Numbers that are rounded before they are packed: the compiler makes vector instructions of that.
    const STRIP: usize = 256;
    let rows = x.len() / n_in;
    for (row, x) in x.chunks_exact(n_in).enumerate() {
        for (strip, x) in x.chunks(STRIP).enumerate() {
            let mut rounded = [0; STRIP];
            for (rounded, x) in rounded.iter_mut().zip(x) {
                *rounded = u32::from(round(*x).to_bits()) << 16;
            }
            match form {
                Form::Numbers => {
                    let words = words[strip * STRIP * rows + row..].iter_mut().step_by(rows);
                    for (word, number) in words.zip(&rounded[..x.len()]) {
                        *word = *number;
                    }
                }
                Form::Words => {
                    let mut words =
                        words[strip * STRIP / 2 * rows + row..].iter_mut().step_by(rows);
                    for four in &rounded.as_chunks::<4>().0[..x.len().div_ceil(4)] {
                        for (word, first) in words.by_ref().take(2).zip(0..) {
                            *word = four[first] | four[first + 2] >> 16;
                        }
                    }
                }
            }
        }
    }
}

/// The words of a row of `n_in` inputs.
pub fn words_of(n_in: usize, form: Form) -> usize {
    match form {
        Form::Numbers => n_in,
        Form::Words => n_in.next_multiple_of(DEPTH) / 2,
    }
}

/// Products in the order that is defined [above](self). The provided method is for instruction sets
/// that have no instruction for that.
pub trait PairProducts {
    /// The products of `P` panels with `M` rows of rounded `x`, packed in the form that the instruction
    /// set wants.
    #[inline(always)]
    fn pair_products<I: Isa, const M: usize, const P: usize>(
        panels: [&[[bf16; LANES]]; P],
        x: &[u32],
    ) -> [[[f32; LANES]; M]; P] {
        products::<I, M, P>(panels, cast_slice::<u32, f32>(x).as_chunks().0)
    }
}

/// The products of `P` panels with `M` rows of rounded `x`, packed as `[k][rows]`.
#[inline(always)]
fn products<I: Isa, const M: usize, const P: usize>(
    panels: [&[[bf16; LANES]]; P],
    x: &[[f32; M]],
) -> [[[f32; LANES]; M]; P] {
    let mut outputs = [[[0.0; LANES]; M]; P];
    // In memory, as those of quantized weights: the registers are for the sums of even and odd inputs.
    let outputs_in_memory = black_box(&mut outputs);
    for (depth, x) in x.chunks(DEPTH).enumerate() {
        let mut parts = panels;
        for part in &mut parts {
            *part = &part[depth * DEPTH..][..x.len()];
        }
        if const { VECTORS * M * P <= I::SUMS } {
            add_depth::<I, M, P, VECTORS>(outputs_in_memory, parts, 0, x);
        } else {
            for vector in 0..VECTORS {
                add_depth::<I, M, P, 1>(outputs_in_memory, parts, vector, x);
            }
        }
    }
    outputs
}

/// Adds the products of up to [`DEPTH`] inputs to `outputs`, for `V` vectors of them, from the `first` on.
#[inline(always)]
fn add_depth<I: Isa, const M: usize, const P: usize, const V: usize>(
    outputs: &mut [[[f32; LANES]; M]; P],
    panels: [&[[bf16; LANES]]; P],
    first: usize,
    x: &[[f32; M]],
) {
    let mut even = [[[I::splat(0.0); V]; M]; P];
    let mut odd = even;
    // Inputs in order, where there are registers for both sums. Otherwise, the even ones come first.
    if const { 2 * V * M * P <= I::SUMS } {
        for two in 0..x.len() / 2 {
            multiply::<I, M, P, V>(&mut even, panels, first, x, 2 * two);
            multiply::<I, M, P, V>(&mut odd, panels, first, x, 2 * two + 1);
        }
        if !x.len().is_multiple_of(2) {
            multiply::<I, M, P, V>(&mut even, panels, first, x, x.len() - 1);
        }
    } else {
        for k in (0..x.len()).step_by(2) {
            multiply::<I, M, P, V>(&mut even, panels, first, x, k);
        }
        for k in (1..x.len()).step_by(2) {
            multiply::<I, M, P, V>(&mut odd, panels, first, x, k);
        }
    }
    for p in 0..P {
        for row in 0..M {
            let (outputs, _) = outputs[p][row].as_chunks_mut::<WIDTH>();
            for v in 0..V {
                let output = &mut outputs[first + v];
                let sum = I::add(even[p][row][v], odd[p][row][v]);
                I::store(I::add(I::load(output), sum), output);
            }
        }
    }
}

/// Few panels at once are prefetched, as by the [microkernel](super::microkernel).
#[inline(always)]
fn prefetch_ahead<const P: usize>(weights: &[bf16; LANES]) {
    /// 4 KiB.
    const AHEAD: usize = 64;
    if const { P < 3 } {
        prefetch(std::ptr::from_ref(weights).wrapping_add(AHEAD));
    }
}

/// Adds the products of the `k`-th input.
#[inline(always)]
fn multiply<I: Isa, const M: usize, const P: usize, const V: usize>(
    sums: &mut [[[I::Vector; V]; M]; P],
    panels: [&[[bf16; LANES]]; P],
    first: usize,
    x: &[[f32; M]],
    k: usize,
) {
    for p in 0..P {
        prefetch_ahead::<P>(&panels[p][k]);
        let weights = vectors(&panels[p][k]);
        let mut widened = [I::splat(0.0); V];
        for v in 0..V {
            widened[v] = I::widen_bf16(&weights[first + v]);
        }
        multiply_add::<I, M, V>(&mut sums[p], widened, &x[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::simd::Simd;

    fn sum(weights: &[f32], x: &[f32]) -> f32 {
        let [weights, x] = [weights, x].map(|numbers| numbers.iter().map(|x| round(*x)).collect());
        let (weights, x): (Vec<bf16>, Vec<bf16>) = (weights, x);
        sum_in_order(&weights, &x)
    }

    #[test]
    fn the_order_reaches_the_bits() {
        // 2^24 + 1 is no f32: it is rounded to 2^24.
        let large = 16_777_216.0;
        assert_eq!(sum(&[large, 1.0, -large, 1.0], &[1.0; 4]), 2.0);
        assert_eq!(sum(&[large, 1.0, 1.0, -large], &[1.0; 4]), 1.0);
        // The second tile begins at zero.
        let mut weights = [0.0; DEPTH + 2];
        (weights[0], weights[DEPTH], weights[DEPTH + 1]) = (large, 1.0, 1.0);
        assert_eq!(sum(&weights, &[1.0; DEPTH + 2]), large + 2.0);
    }

    #[test]
    fn activations_are_rounded_to_nearest_and_tiny_ones_to_zero() {
        for (x, expected) in [
            (1.0, 1.0),
            (1.003_906_2, 1.0),       // a half, to even
            (1.011_718_8, 1.015_625), // a half, to even
            (-1.004, -1.007_812_5),
            (f32::MAX, f32::INFINITY),
            (f32::NEG_INFINITY, f32::NEG_INFINITY),
            (2.0_f32.powi(-56), 2.0_f32.powi(-56)),
            (-2.0_f32.powi(-57), 0.0),
            (f32::from_bits(1), 0.0),
        ] {
            assert_eq!(round(x).to_f32().to_bits(), expected.to_bits(), "{x}");
        }
        for nan in [
            f32::NAN,
            f32::from_bits(0x7f80_0001),
            f32::from_bits(0xffff_ffff),
        ] {
            assert!(round(nan).is_nan());
        }
    }

    /// The least sums that there are, where products cancel each other.
    #[test]
    fn no_sum_is_subnormal() {
        let (least, more) = (LEAST.to_f32(), LEAST.to_f32() * 1.007_812_5);
        let after = 1.015_625 * LEAST.to_f32();
        for (weights, x, expected) in [
            ([least, 0.0, least], [more, 0.0, -least], -119),
            ([more, 0.0, least], [more, 0.0, -after], -126),
        ] {
            let sum = sum(&weights, &x);
            assert!(sum.is_normal() && sum == 2.0_f32.powi(expected), "{sum:e}");
        }
    }

    #[test]
    fn weights_are_copied_only_where_one_is_tiny() {
        let bytes = |weights: &[f32]| {
            let bytes = weights.iter().flat_map(|weight| bf16::from_f32(*weight).to_le_bytes());
            Bytes::from(bytes.collect::<Vec<u8>>())
        };
        let kept = bytes(&[1.0, 0.0, -2.0]);
        let address = kept.as_ptr();
        assert_eq!(weights_without_tiny(kept).as_ptr(), address);
        let changed = weights_without_tiny(bytes(&[1.0, 1e-20, -1e-39, -0.0]));
        assert_eq!(changed, bytes(&[1.0, 0.0, 0.0, 0.0]));
    }

    /// Those of AVX-512 that no processor with `VDPBF16PS` would use, too.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn every_instruction_set_agrees() {
        use crate::kernels::simd::RowKernel;

        struct One<'a>(&'a [[bf16; LANES]], &'a [u32]);
        impl RowKernel for One<'_> {
            type Output = [f32; LANES];

            #[inline(always)]
            fn run<I: Isa, const M: usize>(self) -> Self::Output {
                I::pair_products::<I, 1, 1>([self.0], self.1)[0][0]
            }
        }
        for simd in Simd::available() {
            for form in [Form::Numbers, simd.form_of_pairs()] {
                assert!(agrees(|panel, x| {
                    let mut words = vec![0; words_of(x.len(), form)];
                    pack(x, x.len(), form, &mut words);
                    match form {
                        Form::Numbers => simd.dispatch_rows(1, One(panel, &words)),
                        Form::Words => simd.dispatch_pairs(1, One(panel, &words)),
                    }
                }));
            }
        }
        // Another order is noticed.
        assert!(!agrees(|panel, x| {
            let mut sums = [0.0; LANES];
            for (weights, x) in panel.iter().zip(x) {
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum = fma(weight.to_f32(), round(*x).to_f32(), *sum);
                }
            }
            sums
        }));
    }
}
