//! The instruction sets of x86-64.

use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm256_cvtph_ps, _mm256_storeu_ps};

use half::f16;

use super::{Isa, Kernel, RowKernel, passes};

#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c")]
pub fn avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx512>()
}

#[target_feature(enable = "avx2,fma,f16c")]
pub fn avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx2>()
}

#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512vnni,avx2,fma,f16c")]
pub fn avx512_vnni<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx512Vnni>()
}

#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c")]
fn avx512_rows<K: RowKernel, const M: usize>(kernel: K) -> K::Output {
    kernel.run::<Avx512, M>()
}

#[target_feature(enable = "avx2,fma,f16c")]
fn avx2_rows<K: RowKernel, const M: usize>(kernel: K) -> K::Output {
    kernel.run::<Avx2, M>()
}

#[derive(Clone, Copy)]
pub struct Avx512;

/// AVX-512 with products of bytes.
#[derive(Clone, Copy)]
pub struct Avx512Vnni;

#[derive(Clone, Copy)]
pub struct Avx2;

impl Isa for Avx512 {
    passes!(avx512_rows: 1 2 3 4 6 12);
    const HALVES: bool = false;
    const PANELS: usize = 4;

    #[inline(always)]
    fn widen_f16<const L: usize>(halves: &[f16; L]) -> [f32; L] {
        widen_f16(halves)
    }
}

impl Isa for Avx512Vnni {
    const PASSES: &'static [usize] = Avx512::PASSES;
    const HALVES: bool = Avx512::HALVES;
    const PANELS: usize = Avx512::PANELS;

    #[inline(always)]
    unsafe fn with_rows<K: RowKernel>(rows: usize, kernel: K) -> K::Output {
        // SAFETY: the processor has all of AVX-512 that `Avx512` asks for, and VNNI.
        unsafe { Avx512::with_rows(rows, kernel) }
    }

    #[inline(always)]
    fn widen_f16<const L: usize>(halves: &[f16; L]) -> [f32; L] {
        widen_f16(halves)
    }
}

impl Isa for Avx2 {
    passes!(avx2_rows: 1 2 3 4 6);
    const HALVES: bool = true;
    const PANELS: usize = 4;

    #[inline(always)]
    fn widen_f16<const L: usize>(halves: &[f16; L]) -> [f32; L] {
        widen_f16(halves)
    }
}

/// By F16C's instruction: the arithmetic in `widen_one_f16` compiles to six, which cost more
/// than reading the weights.
#[inline(always)]
fn widen_f16<const L: usize>(halves: &[f16; L]) -> [f32; L] {
    const { assert!(L.is_multiple_of(8)) };
    let mut values = [0.0; L];
    let (eights, _) = halves.as_chunks::<8>();
    let (results, _) = values.as_chunks_mut::<8>();
    for (eight, result) in eights.iter().zip(results) {
        // SAFETY: `Avx512` and `Avx2` are named only by functions compiled with F16C, which
        // run only where the processor has it. Both pointers are to arrays of 16 and 32
        // bytes, and need not be aligned; an `f16` is its 16 bits.
        unsafe {
            let eight = _mm_loadu_si128(eight.as_ptr().cast::<__m128i>());
            _mm256_storeu_ps(result.as_mut_ptr(), _mm256_cvtph_ps(eight));
        }
    }
    values
}
