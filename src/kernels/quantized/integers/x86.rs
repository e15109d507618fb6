//! Products of integers by the instructions of x86-64.

use std::arch::x86_64::*;

use super::{GROUP, IntegerProducts, LANES, NIBBLES, RoundedGroup};
use crate::kernels::microkernel::prefetch;
use crate::kernels::simd::FUSED;
use crate::kernels::simd::x86::{Avx2, Avx512, Avx512Bf16, Avx512Vnni};

/// Outputs in a register of AVX2, and of AVX-512.
const EIGHT: usize = 8;
const SIXTEEN: usize = 16;

/// [`IntegerProducts`] by functions for many rows, and for one row where there are such.
macro_rules! products_by {
    ($isa:ident: $bytes:ident, $nibbles:ident $(, $bytes_of_row:ident, $nibbles_of_row:ident)?) => {
        impl IntegerProducts for $isa {
            #[inline(always)]
            fn add_bytes<const PARTS: usize>(
                weights: &[[i8; LANES]; GROUP],
                scales: &[[f32; LANES]; PARTS],
                x: &[RoundedGroup],
                acc: &mut [[f32; LANES]],
            ) {
                // SAFETY: an instruction set is named only by functions that were compiled with it, which run only
                // where the processor has it. AVX-512 has AVX2 and FMA too.
                unsafe { $bytes(weights, scales, x, acc) }
            }

            #[inline(always)]
            fn add_nibbles<const OFFSET: i32>(
                weights: &[[u32; LANES]; GROUP / NIBBLES],
                scales: &[f32; LANES],
                x: &[RoundedGroup],
                acc: &mut [[f32; LANES]],
            ) {
                // SAFETY: as above.
                unsafe { $nibbles::<OFFSET>(weights, scales, x, acc) }
            }

            $(
                #[inline(always)]
                fn add_bytes_of_row<const PARTS: usize>(
                    weights: &[[i8; LANES]; GROUP],
                    scales: &[[f32; LANES]; PARTS],
                    x: &RoundedGroup,
                    acc: &mut [f32; LANES],
                ) {
                    // SAFETY: as above.
                    unsafe { $bytes_of_row(weights, scales, x, acc) }
                }

                #[inline(always)]
                fn add_nibbles_of_row<const OFFSET: i32>(
                    weights: &[[u32; LANES]; GROUP / NIBBLES],
                    scales: &[f32; LANES],
                    x: &RoundedGroup,
                    acc: &mut [f32; LANES],
                ) {
                    // SAFETY: as above.
                    unsafe { $nibbles_of_row::<OFFSET>(weights, scales, x, acc) }
                }
            )?
        }
    };
}

products_by!(Avx2: add_bytes_in_quads, add_nibbles_in_quads);
products_by!(Avx512: add_bytes_in_quads, add_nibbles_in_quads);
products_by!(Avx512Bf16: add_bytes_in_quads, add_nibbles_in_quads);
products_by!(
    Avx512Vnni: add_bytes_by_vnni, add_nibbles_by_vnni, add_bytes_of_row_by_vnni, add_nibbles_of_row_by_vnni
);

// There are no closures in these functions: the compiler keeps some as calls, and with them every
// instruction inside.

/// Adds `dots * scales * x_scale` to the outputs of `acc` from `first` on.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn add_eight(
    (acc, scales): (&mut [f32; LANES], &[f32; LANES]),
    first: usize,
    x_scale: f32,
    dots: __m256i,
) {
    let (acc, scales) = (&mut acc[first..first + EIGHT], &scales[first..first + EIGHT]);
    // SAFETY: eight numbers are read from and written to slices of eight.
    unsafe {
        let scales = _mm256_mul_ps(_mm256_loadu_ps(scales.as_ptr()), _mm256_set1_ps(x_scale));
        let (dots, before) = (_mm256_cvtepi32_ps(dots), _mm256_loadu_ps(acc.as_ptr()));
        let sum = if FUSED {
            _mm256_fmadd_ps(scales, dots, before)
        } else {
            _mm256_add_ps(_mm256_mul_ps(scales, dots), before)
        };
        _mm256_storeu_ps(acc.as_mut_ptr(), sum);
    }
}

/// The same for 16 outputs.
#[target_feature(enable = "avx512f")]
#[inline]
fn add_sixteen(
    (acc, scales): (&mut [f32; LANES], &[f32; LANES]),
    first: usize,
    x_scale: f32,
    dots: __m512i,
) {
    let (acc, scales) = (&mut acc[first..first + SIXTEEN], &scales[first..first + SIXTEEN]);
    // SAFETY: 16 numbers are read from and written to slices of 16.
    unsafe {
        let scales = _mm512_mul_ps(_mm512_loadu_ps(scales.as_ptr()), _mm512_set1_ps(x_scale));
        let (dots, before) = (_mm512_cvtepi32_ps(dots), _mm512_loadu_ps(acc.as_ptr()));
        let sum = if FUSED {
            _mm512_fmadd_ps(scales, dots, before)
        } else {
            _mm512_add_ps(_mm512_mul_ps(scales, dots), before)
        };
        _mm512_storeu_ps(acc.as_mut_ptr(), sum);
    }
}

/// Four weights of an output are brought together in 32 bits. `vpmaddubsw` wants one factor without a
/// sign: the weight gives its sign to `x`. It sums two products, at most 2 * 128 * 127, and `vpmaddwd`
/// two of these sums.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn add_bytes_in_quads<const PARTS: usize>(
    weights: &[[i8; LANES]; GROUP],
    scales: &[[f32; LANES]; PARTS],
    x: &[RoundedGroup],
    acc: &mut [[f32; LANES]],
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
    for (x, acc) in x.iter().zip(acc) {
        let mut sums = [_mm256_setzero_si256(); 4];
        for (i, (quads, quad_of_x)) in quads.iter().zip(x.quads).enumerate() {
            let quad_of_x = _mm256_set1_epi32(bytemuck::cast(quad_of_x));
            for (sum, quad) in sums.iter_mut().zip(quads) {
                let signed = _mm256_sign_epi8(quad_of_x, *quad);
                let products = _mm256_maddubs_epi16(_mm256_abs_epi8(*quad), signed);
                *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(products, ones));
            }
            if (i + 1).is_multiple_of(GROUP / 4 / PARTS) {
                let scales = &scales[i * PARTS / (GROUP / 4)];
                let in_order = [
                    _mm256_permute2x128_si256::<0x20>(sums[0], sums[1]),
                    _mm256_permute2x128_si256::<0x20>(sums[2], sums[3]),
                    _mm256_permute2x128_si256::<0x31>(sums[0], sums[1]),
                    _mm256_permute2x128_si256::<0x31>(sums[2], sums[3]),
                ];
                for (i, sums) in in_order.into_iter().enumerate() {
                    add_eight((&mut *acc, scales), i * EIGHT, x.scale, sums);
                }
                sums = [_mm256_setzero_si256(); 4];
            }
        }
    }
}

/// Four nibbles in the bytes of 32 bits. `vpmaddubsw` sums two products each, at most 2 * 15 * 127,
/// and eight of these sums are less than 2^15.
#[target_feature(enable = "avx2,fma")]
#[inline]
fn add_nibbles_in_quads<const OFFSET: i32>(
    weights: &[[u32; LANES]; GROUP / NIBBLES],
    scales: &[f32; LANES],
    x: &[RoundedGroup],
    acc: &mut [[f32; LANES]],
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
        for (x, acc) in x.iter().zip(&mut *acc) {
            let mut sum = _mm256_setzero_si256();
            for (quad, x) in quads.as_flattened().iter().zip(x.nibble_quads) {
                let x = _mm256_set1_epi32(bytemuck::cast(x));
                sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(*quad, x));
            }
            let mut sum = _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
            if OFFSET > 0 {
                sum = _mm256_add_epi32(sum, _mm256_set1_epi32(x.minus_8));
            }
            add_eight((acc, scales), first, x.scale, sum);
        }
    }
}

/// How bytes are brought into the order of `vpdpbusd`: four weights of an output in 32 bits, with 128
/// added to each.
#[derive(Clone, Copy)]
struct Turn {
    words: [__m512i; 2],
    bytes: __m512i,
    sign: __m512i,
}

impl Turn {
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn new() -> Self {
        /// A row of 32 bytes is 8 words of four outputs. For each of four words: that of all four rows.
        const WORDS: [i32; SIXTEEN] = [0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27];
        let bytes = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        // SAFETY: 16 numbers are read from an array of 16.
        let words = unsafe { _mm512_loadu_si512(WORDS.as_ptr().cast()) };
        Self {
            words: [
                words,
                _mm512_add_epi32(words, _mm512_set1_epi32(SIXTEEN as i32 / 4)),
            ],
            bytes: _mm512_broadcast_i32x4(bytes),
            sign: _mm512_set1_epi8(-128),
        }
    }

    /// Four rows of 32 outputs, for each half of the outputs.
    #[target_feature(enable = "avx512f,avx512bw")]
    #[inline]
    fn turn(&self, rows: &[[i8; LANES]; 4]) -> [__m512i; 2] {
        let (rows, _) = rows.as_flattened().as_chunks::<64>();
        // SAFETY: 64 bytes are read from each of two arrays of 64.
        let (first, second) = unsafe {
            let (first, second) = (rows[0].as_ptr(), rows[1].as_ptr());
            (_mm512_loadu_si512(first.cast()), _mm512_loadu_si512(second.cast()))
        };
        let mut halves = [_mm512_setzero_si512(); 2];
        for (half, words) in halves.iter_mut().zip(self.words) {
            // [word][row][output of the word] -> [word][output of the word][row]
            let words = _mm512_permutex2var_epi32(first, words, second);
            *half = _mm512_xor_si512(_mm512_shuffle_epi8(words, self.bytes), self.sign);
        }
        halves
    }
}

/// `vpdpbusd` adds four products of bytes to each sum. It takes the weights without a sign, so 128
/// is added to each, and 128 times the sum of `x` is subtracted.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
fn add_bytes_by_vnni<const PARTS: usize>(
    weights: &[[i8; LANES]; GROUP],
    scales: &[[f32; LANES]; PARTS],
    x: &[RoundedGroup],
    acc: &mut [[f32; LANES]],
) {
    let turn = Turn::new();
    // [quad][half of the outputs]
    let mut quads = [[_mm512_setzero_si512(); 2]; GROUP / 4];
    for (quads, rows) in quads.iter_mut().zip(weights.as_chunks::<4>().0) {
        *quads = turn.turn(rows);
    }
    for (x, acc) in x.iter().zip(acc) {
        // [half of the group][half of the outputs]
        let mut sums = [[_mm512_setzero_si512(); 2]; 2];
        let halves = quads.as_chunks::<{ GROUP / 8 }>().0.iter();
        let halves = halves.zip(x.quads.as_chunks::<{ GROUP / 8 }>().0).zip(x.minus_128);
        for (sums, ((quads, x), minus)) in sums.iter_mut().zip(halves) {
            *sums = [_mm512_set1_epi32(minus); 2];
            for (quads, x) in quads.iter().zip(x) {
                let x = _mm512_set1_epi32(bytemuck::cast(*x));
                sums[0] = _mm512_dpbusd_epi32(sums[0], quads[0], x);
                sums[1] = _mm512_dpbusd_epi32(sums[1], quads[1], x);
            }
        }
        if PARTS == 1 {
            sums[0][0] = _mm512_add_epi32(sums[0][0], sums[1][0]);
            sums[0][1] = _mm512_add_epi32(sums[0][1], sums[1][1]);
        }
        for (scales, sums) in scales.iter().zip(sums) {
            add_sixteen((&mut *acc, scales), 0, x.scale, sums[0]);
            add_sixteen((&mut *acc, scales), SIXTEEN, x.scale, sums[1]);
        }
    }
}

/// [`add_bytes_by_vnni`] for one row. The weights are multiplied as they are read, in order, so that
/// the processor sees which come next.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
fn add_bytes_of_row_by_vnni<const PARTS: usize>(
    weights: &[[i8; LANES]; GROUP],
    scales: &[[f32; LANES]; PARTS],
    x: &RoundedGroup,
    acc: &mut [f32; LANES],
) {
    let turn = Turn::new();
    let (quads, _) = weights.as_chunks::<4>();
    for (part, scales) in scales.iter().enumerate() {
        let minus = if PARTS == 1 {
            x.minus_128[0] + x.minus_128[1]
        } else {
            x.minus_128[part]
        };
        let mut sums = [_mm512_set1_epi32(minus); 2];
        let of_part = part * GROUP / 4 / PARTS..(part + 1) * GROUP / 4 / PARTS;
        for (weights, x) in quads[of_part.clone()].iter().zip(&x.quads[of_part]) {
            prefetch_ahead(weights);
            let x = _mm512_set1_epi32(bytemuck::cast(*x));
            let weights = turn.turn(weights);
            sums[0] = _mm512_dpbusd_epi32(sums[0], weights[0], x);
            sums[1] = _mm512_dpbusd_epi32(sums[1], weights[1], x);
        }
        add_sixteen((&mut *acc, scales), 0, x.scale, sums[0]);
        add_sixteen((&mut *acc, scales), SIXTEEN, x.scale, sums[1]);
    }
}

/// [`add_bytes_by_vnni`] for nibbles, which have no sign.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
fn add_nibbles_by_vnni<const OFFSET: i32>(
    weights: &[[u32; LANES]; GROUP / NIBBLES],
    scales: &[f32; LANES],
    x: &[RoundedGroup],
    acc: &mut [[f32; LANES]],
) {
    let low = _mm512_set1_epi8(15);
    // [quad][half of the outputs]
    let mut quads = [[_mm512_setzero_si512(); 2]; GROUP / 4];
    for (quads, words) in quads.as_chunks_mut::<2>().0.iter_mut().zip(weights) {
        let (words, _) = words.as_chunks::<SIXTEEN>();
        for (half, words) in words.iter().enumerate() {
            // SAFETY: 16 words are read from an array of 16.
            let words = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
            quads[0][half] = _mm512_and_si512(words, low);
            quads[1][half] = _mm512_and_si512(_mm512_srli_epi16::<4>(words), low);
        }
    }
    for (x, acc) in x.iter().zip(acc) {
        let start = if OFFSET > 0 { x.minus_8 } else { 0 };
        let mut sums = [_mm512_set1_epi32(start); 2];
        for (quads, x) in quads.iter().zip(x.nibble_quads) {
            let x = _mm512_set1_epi32(bytemuck::cast(x));
            sums[0] = _mm512_dpbusd_epi32(sums[0], quads[0], x);
            sums[1] = _mm512_dpbusd_epi32(sums[1], quads[1], x);
        }
        add_sixteen((&mut *acc, scales), 0, x.scale, sums[0]);
        add_sixteen((&mut *acc, scales), SIXTEEN, x.scale, sums[1]);
    }
}

/// [`add_bytes_of_row_by_vnni`] for nibbles.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[inline]
fn add_nibbles_of_row_by_vnni<const OFFSET: i32>(
    weights: &[[u32; LANES]; GROUP / NIBBLES],
    scales: &[f32; LANES],
    x: &RoundedGroup,
    acc: &mut [f32; LANES],
) {
    let low = _mm512_set1_epi8(15);
    let start = if OFFSET > 0 { x.minus_8 } else { 0 };
    let mut sums = [_mm512_set1_epi32(start); 2];
    for (words, x) in weights.iter().zip(x.nibble_quads.as_chunks::<2>().0) {
        prefetch_ahead(words);
        let lower_x = _mm512_set1_epi32(bytemuck::cast(x[0]));
        let upper_x = _mm512_set1_epi32(bytemuck::cast(x[1]));
        let (words, _) = words.as_chunks::<SIXTEEN>();
        for (sum, words) in sums.iter_mut().zip(words) {
            // SAFETY: 16 words are read from an array of 16.
            let words = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
            let lower = _mm512_and_si512(words, low);
            let upper = _mm512_and_si512(_mm512_srli_epi16::<4>(words), low);
            *sum = _mm512_dpbusd_epi32(*sum, lower, lower_x);
            *sum = _mm512_dpbusd_epi32(*sum, upper, upper_x);
        }
    }
    add_sixteen((&mut *acc, scales), 0, x.scale, sums[0]);
    add_sixteen((acc, scales), SIXTEEN, x.scale, sums[1]);
}

/// Asks for what is read soon after `weights`.
#[inline(always)]
fn prefetch_ahead<T>(weights: &T) {
    /// Bytes. From 128 to 400 made no difference; 1000 took a quarter longer.
    const AHEAD: usize = 256;
    prefetch(std::ptr::from_ref(weights).wrapping_byte_add(AHEAD));
}
