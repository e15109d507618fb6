//! Products of integers by the instructions of x86-64.

use std::arch::x86_64::*;

use super::{Dots, GROUP, LANES, NIBBLES, PartDots, RoundedGroup};
use crate::kernels::simd::x86::{Avx2, Avx512};

/// Outputs in a register of AVX2, and of AVX-512.
const EIGHT: usize = 8;
const SIXTEEN: usize = 16;

impl Dots for Avx2 {
    #[inline(always)]
    fn bytes<const PARTS: usize>(
        weights: &[[i8; LANES]; GROUP],
        x: &[RoundedGroup],
        dots: &mut [PartDots],
    ) {
        // SAFETY: `Avx2` and `Avx512` are named only by functions that were compiled with AVX2, which
        // run only where the processor has it.
        unsafe { bytes_in_quads::<PARTS>(weights, x, dots) }
    }

    #[inline(always)]
    fn nibbles(
        weights: &[[u32; LANES]; GROUP / NIBBLES],
        x: &[RoundedGroup],
        dots: &mut [PartDots],
    ) {
        // SAFETY: as above.
        unsafe { nibbles_in_quads(weights, x, dots) }
    }
}

/// By VNNI where the processor has it. Without that, the instructions of AVX2 are used.
impl Dots for Avx512 {
    #[inline(always)]
    fn bytes<const PARTS: usize>(
        weights: &[[i8; LANES]; GROUP],
        x: &[RoundedGroup],
        dots: &mut [PartDots],
    ) {
        if is_x86_feature_detected!("avx512vnni") {
            // SAFETY: `Avx512` is named only where the processor has AVX-512, and it has VNNI.
            unsafe { bytes_by_vnni::<PARTS>(weights, x, dots) }
        } else {
            Avx2::bytes::<PARTS>(weights, x, dots);
        }
    }

    #[inline(always)]
    fn nibbles(
        weights: &[[u32; LANES]; GROUP / NIBBLES],
        x: &[RoundedGroup],
        dots: &mut [PartDots],
    ) {
        if is_x86_feature_detected!("avx512vnni") {
            // SAFETY: as above.
            unsafe { nibbles_by_vnni(weights, x, dots) }
        } else {
            Avx2::nibbles(weights, x, dots);
        }
    }
}

// There are no closures in these functions: the compiler keeps some as calls, and with them every
// instruction inside.

/// Four weights of an output are brought together in 32 bits. `vpmaddubsw` wants one factor without a
/// sign: the weight gives its sign to `x`. It sums two products, at most 2 * 128 * 127, and `vpmaddwd`
/// two of these sums.
#[target_feature(enable = "avx2")]
#[inline]
fn bytes_in_quads<const PARTS: usize>(
    weights: &[[i8; LANES]; GROUP],
    x: &[RoundedGroup],
    dots: &mut [PartDots],
) {
    // In each half of a register four outputs: 0 and 16, 4 and 20, 8 and 24, 12 and 28 are the first.
    let mut quads = [[_mm256_setzero_si256(); 4]; GROUP / 4];
    for (quads, rows) in quads.iter_mut().zip(weights.as_chunks::<4>().0) {
        let [a, b, c, d] = rows;
        // SAFETY: 32 bytes are read from arrays of 32.
        let (a, b, c, d) = unsafe {
            (
                _mm256_loadu_si256(a.as_ptr().cast()),
                _mm256_loadu_si256(b.as_ptr().cast()),
                _mm256_loadu_si256(c.as_ptr().cast()),
                _mm256_loadu_si256(d.as_ptr().cast()),
            )
        };
        let (ab, cd) = (_mm256_unpacklo_epi8(a, b), _mm256_unpacklo_epi8(c, d));
        quads[0] = _mm256_unpacklo_epi16(ab, cd);
        quads[1] = _mm256_unpackhi_epi16(ab, cd);
        let (ab, cd) = (_mm256_unpackhi_epi8(a, b), _mm256_unpackhi_epi8(c, d));
        quads[2] = _mm256_unpacklo_epi16(ab, cd);
        quads[3] = _mm256_unpackhi_epi16(ab, cd);
    }
    let ones = _mm256_set1_epi16(1);
    for (x, dots) in x.iter().zip(dots) {
        let mut sums = [_mm256_setzero_si256(); 4];
        for (i, (quads, x)) in quads.iter().zip(x.quads).enumerate() {
            let x = _mm256_set1_epi32(bytemuck::cast(x));
            for (sum, quad) in sums.iter_mut().zip(quads) {
                let products =
                    _mm256_maddubs_epi16(_mm256_abs_epi8(*quad), _mm256_sign_epi8(x, *quad));
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(products, ones));
            }
            let part = i * PARTS / (GROUP / 4);
            if i + 1 == GROUP / 4 || PARTS == 2 && i + 1 == GROUP / 8 {
                let in_order = [
                    _mm256_permute2x128_si256::<0x20>(sums[0], sums[1]),
                    _mm256_permute2x128_si256::<0x20>(sums[2], sums[3]),
                    _mm256_permute2x128_si256::<0x31>(sums[0], sums[1]),
                    _mm256_permute2x128_si256::<0x31>(sums[2], sums[3]),
                ];
                for (to, sum) in dots[part].as_chunks_mut::<EIGHT>().0.iter_mut().zip(in_order) {
                    // SAFETY: eight numbers are written to an array of eight.
                    unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), sum) };
                }
                sums = [_mm256_setzero_si256(); 4];
            }
        }
    }
}

/// Four nibbles in the bytes of 32 bits. `vpmaddubsw` sums two products each, at most 2 * 15 * 127,
/// and eight of these sums are less than 2^15.
#[target_feature(enable = "avx2")]
#[inline]
fn nibbles_in_quads(
    weights: &[[u32; LANES]; GROUP / NIBBLES],
    x: &[RoundedGroup],
    dots: &mut [PartDots],
) {
    let low = _mm256_set1_epi8(15);
    for first in (0..LANES).step_by(EIGHT) {
        let mut quads = [[_mm256_setzero_si256(); 2]; GROUP / NIBBLES];
        for (quads, words) in quads.iter_mut().zip(weights) {
            let words = words[first..first + EIGHT].as_ptr();
            // SAFETY: eight words are read from a slice of eight.
            let words = unsafe { _mm256_loadu_si256(words.cast()) };
            quads[0] = _mm256_and_si256(words, low);
            quads[1] = _mm256_and_si256(_mm256_srli_epi16::<4>(words), low);
        }
        for (x, [dots, _]) in x.iter().zip(&mut *dots) {
            let mut sum = _mm256_setzero_si256();
            for (quad, x) in quads.as_flattened().iter().zip(x.nibble_quads) {
                let x = _mm256_set1_epi32(bytemuck::cast(x));
                sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(*quad, x));
            }
            let sum = _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
            let to = dots[first..first + EIGHT].as_mut_ptr();
            // SAFETY: eight numbers are written to a slice of eight.
            unsafe { _mm256_storeu_si256(to.cast(), sum) };
        }
    }
}

/// `vpdpbusd` adds four products of bytes to each sum. It takes the weights without a sign, so 128
/// is added to each, and 128 times the sum of `x` is subtracted.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
fn bytes_by_vnni<const PARTS: usize>(
    weights: &[[i8; LANES]; GROUP],
    x: &[RoundedGroup],
    dots: &mut [PartDots],
) {
    /// A row of 32 bytes is 8 words of four outputs. For each of four words: that of all four rows.
    const WORDS: [i32; SIXTEEN] = [0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27];
    let turn = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    let turn = _mm512_broadcast_i32x4(turn);
    // SAFETY: 16 numbers are read from an array of 16.
    let words = unsafe { _mm512_loadu_si512(WORDS.as_ptr().cast()) };
    for first in (0..LANES).step_by(SIXTEEN) {
        let words = _mm512_add_epi32(words, _mm512_set1_epi32(first as i32 / 4));
        let mut quads = [_mm512_setzero_si512(); GROUP / 4];
        for (quad, rows) in quads.iter_mut().zip(weights.as_chunks::<4>().0) {
            let (rows, _) = rows.as_flattened().as_chunks::<64>();
            // SAFETY: 64 bytes are read from each of two arrays of 64.
            let (upper, lower) = unsafe {
                let (upper, lower) = (rows[0].as_ptr(), rows[1].as_ptr());
                (_mm512_loadu_si512(upper.cast()), _mm512_loadu_si512(lower.cast()))
            };
            // [word][row][output of the word] -> [word][output of the word][row]
            let turned = _mm512_shuffle_epi8(_mm512_permutex2var_epi32(upper, words, lower), turn);
            *quad = _mm512_xor_si512(turned, _mm512_set1_epi8(-128));
        }
        for (x, dots) in x.iter().zip(&mut *dots) {
            let mut halves = [_mm512_setzero_si512(); 2];
            let groups = quads.as_chunks::<{ GROUP / 8 }>().0.iter();
            let groups = groups.zip(x.quads.as_chunks::<{ GROUP / 8 }>().0).zip(x.sums);
            for (half, ((quads, x), sum)) in halves.iter_mut().zip(groups) {
                *half = _mm512_set1_epi32(-128 * sum);
                for (quad, x) in quads.iter().zip(x) {
                    let x = _mm512_set1_epi32(bytemuck::cast(*x));
                    *half = _mm512_dpbusd_epi32(*half, *quad, x);
                }
            }
            if PARTS == 1 {
                halves[0] = _mm512_add_epi32(halves[0], halves[1]);
            }
            for (dots, half) in dots.iter_mut().zip(halves).take(PARTS) {
                let to = dots[first..first + SIXTEEN].as_mut_ptr();
                // SAFETY: 16 numbers are written to a slice of 16.
                unsafe { _mm512_storeu_si512(to.cast(), half) };
            }
        }
    }
}

/// The same for nibbles, which have no sign.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
fn nibbles_by_vnni(
    weights: &[[u32; LANES]; GROUP / NIBBLES],
    x: &[RoundedGroup],
    dots: &mut [PartDots],
) {
    let low = _mm512_set1_epi8(15);
    for first in (0..LANES).step_by(SIXTEEN) {
        let mut quads = [[_mm512_setzero_si512(); 2]; GROUP / NIBBLES];
        for (quads, words) in quads.iter_mut().zip(weights) {
            let words = words[first..first + SIXTEEN].as_ptr();
            // SAFETY: 16 words are read from a slice of 16.
            let words = unsafe { _mm512_loadu_si512(words.cast()) };
            quads[0] = _mm512_and_si512(words, low);
            quads[1] = _mm512_and_si512(_mm512_srli_epi16::<4>(words), low);
        }
        for (x, [dots, _]) in x.iter().zip(&mut *dots) {
            // Two sums, because each addition waits for the one before.
            let mut sums = [_mm512_setzero_si512(); 2];
            for (quads, x) in quads.iter().zip(x.nibble_quads.as_chunks::<2>().0) {
                for ((sum, quad), x) in sums.iter_mut().zip(quads).zip(x) {
                    let x = _mm512_set1_epi32(bytemuck::cast(*x));
                    *sum = _mm512_dpbusd_epi32(*sum, *quad, x);
                }
            }
            let sum = _mm512_add_epi32(sums[0], sums[1]);
            let to = dots[first..first + SIXTEEN].as_mut_ptr();
            // SAFETY: 16 numbers are written to a slice of 16.
            unsafe { _mm512_storeu_si512(to.cast(), sum) };
        }
    }
}
