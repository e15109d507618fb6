//! [`PairProducts`] by `VDPBF16PS`.

use std::arch::x86_64::*;
use std::hint::black_box;
use std::sync::LazyLock;

use half::bf16;

use super::{DEPTH, Form, LANES, PairProducts, WIDTH, agrees, pack, prefetch_ahead, words_of};
use crate::kernels::simd::Isa;
use crate::kernels::simd::x86::{Avx2, Avx512, Avx512Bf16, Avx512Vnni};

impl PairProducts for Avx2 {}
impl PairProducts for Avx512 {}
impl PairProducts for Avx512Vnni {}

impl PairProducts for Avx512Bf16 {
    #[inline(always)]
    fn pair_products<I: Isa, const M: usize, const P: usize>(
        panels: [&[[bf16; LANES]]; P],
        x: &[u32],
    ) -> [[[f32; LANES]; M]; P] {
        // SAFETY: `Avx512Bf16` is named only by functions that were compiled with AVX-512 and its
        // products of bf16, which run only where the processor has both.
        unsafe { products::<M, P>(panels, x.as_chunks().0.as_chunks().0) }
    }
}

/// Whether the processor has the instruction, and it computes what it should.
pub fn is_available() -> bool {
    static AVAILABLE: LazyLock<bool> = LazyLock::new(|| {
        is_x86_feature_detected!("avx512bf16")
            && agrees(|panel, x| {
                let mut words = vec![0; words_of(x.len(), Form::Words)];
                pack(x, x.len(), Form::Words, &mut words);
                // SAFETY: the processor has the instruction.
                unsafe { products::<1, 1>([panel], words.as_chunks().0.as_chunks().0)[0][0] }
            })
    });
    *AVAILABLE
}

/// Sums of 16 outputs each: of the first four of each eight, and of the other four.
type Halves = [[f32; WIDTH]; 2];

/// `x` is packed as [words](super::Form::Words).
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
#[inline]
fn products<const M: usize, const P: usize>(
    panels: [&[[bf16; LANES]]; P],
    x: &[[[u32; M]; 2]],
) -> [[[f32; LANES]; M]; P] {
    let mut outputs = [[[[0.0; WIDTH]; 2]; M]; P];
    // As for other instruction sets.
    let outputs_in_memory = black_box(&mut outputs);
    // The last inputs, where there are fewer than `DEPTH`, and zeros.
    let mut last = Vec::new();
    for panel in panels {
        let (_, rest) = panel.as_chunks::<DEPTH>();
        if !rest.is_empty() {
            let mut padded = [[bf16::ZERO; LANES]; DEPTH];
            padded[..rest.len()].copy_from_slice(rest);
            last.push(padded);
        }
    }
    for (depth, x) in x.as_chunks().0.iter().enumerate() {
        let mut parts = [&[[bf16::ZERO; LANES]; DEPTH]; P];
        for p in 0..P {
            parts[p] = panels[p].as_chunks().0.get(depth).unwrap_or_else(|| &last[p]);
        }
        // The sums of even and of odd inputs.
        if const { 2 * 2 * M * P <= <Avx512 as Isa>::SUMS } {
            add_depth::<M, P, 0, 2>(outputs_in_memory, parts, x);
        } else {
            add_depth::<M, P, 0, 1>(outputs_in_memory, parts, x);
            add_depth::<M, P, 1, 1>(outputs_in_memory, parts, x);
        }
    }
    let mut in_order = [[[0.0; LANES]; M]; P];
    for p in 0..P {
        for row in 0..M {
            let [first, second] = &outputs[p][row];
            let halves = [first.as_chunks::<4>().0, second.as_chunks::<4>().0];
            for (four, in_order) in in_order[p][row].as_chunks_mut().0.iter_mut().enumerate() {
                *in_order = halves[four % 2][four / 2];
            }
        }
    }
    in_order
}

/// Adds the products of [`DEPTH`] inputs, for `H` halves of the outputs, from the `FIRST` on.
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
#[inline]
fn add_depth<const M: usize, const P: usize, const FIRST: usize, const H: usize>(
    outputs: &mut [[Halves; M]; P],
    panels: [&[[bf16; LANES]; DEPTH]; P],
    x: &[[[u32; M]; 2]; DEPTH / 4],
) {
    let mut sums = [[[[_mm512_setzero_ps(); H]; M]; P]; 2];
    for four in 0..DEPTH / 4 {
        for p in 0..P {
            let inputs = &panels[p].as_chunks::<4>().0[four];
            if FIRST == 0 {
                for weights in inputs {
                    prefetch_ahead::<P>(weights);
                }
            }
            for odd in 0..2 {
                let (first, second) = (load(&inputs[odd]), load(&inputs[odd + 2]));
                let mut words = [second; H];
                for half in 0..H {
                    // Instructions that bring two numbers together in a word do so in each 128 bits.
                    words[half] = if FIRST + half == 0 {
                        _mm512_unpacklo_epi16(second, first)
                    } else {
                        _mm512_unpackhi_epi16(second, first)
                    };
                }
                for row in 0..M {
                    let x = _mm512_set1_epi32(x[four][odd][row] as i32);
                    for half in 0..H {
                        let sum = &mut sums[odd][p][row][half];
                        *sum = _mm512_dpbf16_ps(*sum, as_bf16(words[half]), as_bf16(x));
                    }
                }
            }
        }
    }
    for p in 0..P {
        for row in 0..M {
            for half in 0..H {
                let output = outputs[p][row][FIRST + half].as_mut_ptr();
                let sum = _mm512_add_ps(sums[0][p][row][half], sums[1][p][row][half]);
                // SAFETY: 16 numbers are read from and written to an array of 16.
                unsafe {
                    _mm512_storeu_ps(output, _mm512_add_ps(_mm512_loadu_ps(output), sum));
                }
            }
        }
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(weights: &[bf16; LANES]) -> __m512i {
    // SAFETY: 64 bytes are read from an array of 64.
    unsafe { _mm512_loadu_si512(weights.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn as_bf16(words: __m512i) -> __m512bh {
    // SAFETY: both are 512 bits, of which any are numbers.
    unsafe { std::mem::transmute(words) }
}
