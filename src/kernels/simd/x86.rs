//! The instruction sets of x86-64.

use std::arch::x86_64::*;

use half::{bf16, f16};

use crate::kernels::quantized::E2M1_DOUBLED;

use super::{FUSED, Isa, Kernel, ONE_OF_16, RowKernel, WIDTH, is_tile, passes};

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

#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,avx2,fma,f16c")]
fn avx512_bf16_rows<K: RowKernel, const M: usize>(kernel: K) -> K::Output {
    kernel.run::<Avx512Bf16, M>()
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

/// AVX-512 with products of bf16.
#[derive(Clone, Copy)]
pub struct Avx512Bf16;

#[derive(Clone, Copy)]
pub struct Avx2;

/// The operations that AVX-512 has on one register.
///
/// Where the compiler is asked for such a function, it inlines it into one that has the instructions
/// enabled.
macro_rules! in_one_register {
    () => {
        type Vector = __m512;
        const SUMS: usize = 24;

        // SAFETY, of all of these: these sets are named only by functions compiled with AVX-512, which
        // run only where the processor has it. As many numbers are read and written as the arrays have.

        #[inline(always)]
        fn splat(number: f32) -> __m512 {
            unsafe { _mm512_set1_ps(number) }
        }

        #[inline(always)]
        fn load(numbers: &[f32; WIDTH]) -> __m512 {
            unsafe { _mm512_loadu_ps(numbers.as_ptr()) }
        }

        #[inline(always)]
        fn store(vector: __m512, numbers: &mut [f32; WIDTH]) {
            unsafe { _mm512_storeu_ps(numbers.as_mut_ptr(), vector) }
        }

        #[inline(always)]
        fn mul(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_mul_ps(a, b) }
        }

        #[inline(always)]
        fn add(a: __m512, b: __m512) -> __m512 {
            unsafe { _mm512_add_ps(a, b) }
        }

        #[inline(always)]
        fn fma(a: __m512, b: __m512, c: __m512) -> __m512 {
            unsafe {
                if FUSED {
                    _mm512_fmadd_ps(a, b, c)
                } else {
                    _mm512_add_ps(_mm512_mul_ps(a, b), c)
                }
            }
        }

        #[inline(always)]
        fn widen_f16(halves: &[f16; WIDTH]) -> __m512 {
            unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(halves.as_ptr().cast())) }
        }

        #[inline(always)]
        fn widen_bf16(halves: &[bf16; WIDTH]) -> __m512 {
            unsafe {
                let words = _mm512_cvtepu16_epi32(_mm256_loadu_si256(halves.as_ptr().cast()));
                _mm512_castsi512_ps(_mm512_slli_epi32::<16>(words))
            }
        }

        #[inline(always)]
        fn widen_i8(integers: &[i8; WIDTH]) -> __m512 {
            unsafe {
                let words = _mm512_cvtepi8_epi32(_mm_loadu_si128(integers.as_ptr().cast()));
                _mm512_cvtepi32_ps(words)
            }
        }

        #[inline(always)]
        fn widen_nibbles<const BIT: u32>(words: &[u32; WIDTH]) -> __m512 {
            unsafe {
                let words = _mm512_loadu_si512(words.as_ptr().cast());
                // The shift by a count in a register is as fast, and the compiler makes one by a
                // constant of it.
                let moved = if BIT <= ONE_OF_16 {
                    _mm512_sll_epi32(words, _mm_cvtsi32_si128((ONE_OF_16 - BIT) as i32))
                } else {
                    _mm512_srl_epi32(words, _mm_cvtsi32_si128((BIT - ONE_OF_16) as i32))
                };
                let nibble = _mm512_and_si512(moved, _mm512_set1_epi32(15 << ONE_OF_16));
                let sixteen = _mm512_set1_epi32(16.0_f32.to_bits() as i32);
                _mm512_castsi512_ps(_mm512_or_si512(nibble, sixteen))
            }
        }

        #[inline(always)]
        fn look_up_e2m1(codes: &[u8; WIDTH]) -> [[i8; WIDTH]; 2] {
            unsafe { look_up_e2m1(codes) }
        }

        #[inline(always)]
        fn widen_e2m1(codes: &[u8; WIDTH]) -> [__m512; 2] {
            unsafe {
                let numbers = _mm512_loadu_ps(E2M1_WIDENED.as_ptr());
                // The lowest four bits of an index count.
                let lower = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes.as_ptr().cast()));
                let upper = _mm512_srli_epi32::<4>(lower);
                [
                    _mm512_permutexvar_ps(lower, numbers),
                    _mm512_permutexvar_ps(upper, numbers),
                ]
            }
        }
    };
}

impl Isa for Avx512 {
    in_one_register!();
    passes!(avx512_rows: 1 2 3 4 5 6 7 8 9 10 11 12);
}

impl Isa for Avx512Bf16 {
    in_one_register!();
    passes!(avx512_bf16_rows: 1 2 3 4 5 6 7 8 9 10 11 12);
}

impl Isa for Avx512Vnni {
    in_one_register!();
    const ROWS: usize = Avx512::ROWS;

    #[inline(always)]
    unsafe fn with_rows<K: RowKernel>(rows: usize, kernel: K) -> K::Output {
        // SAFETY: the processor has all of AVX-512 that `Avx512` asks for, and VNNI.
        unsafe { Avx512::with_rows(rows, kernel) }
    }
}

/// In two registers, since one has eight lanes.
impl Isa for Avx2 {
    type Vector = [__m256; 2];
    const SUMS: usize = 6;
    passes!(avx2_rows: 1 2 3 4 5 6);

    // SAFETY, of all of these: as above, with AVX2, FMA and F16C.

    #[inline(always)]
    fn splat(number: f32) -> Self::Vector {
        [unsafe { _mm256_set1_ps(number) }; 2]
    }

    #[inline(always)]
    fn load(numbers: &[f32; WIDTH]) -> Self::Vector {
        let numbers = numbers.as_ptr();
        unsafe { [_mm256_loadu_ps(numbers), _mm256_loadu_ps(numbers.add(8))] }
    }

    #[inline(always)]
    fn store(vector: Self::Vector, numbers: &mut [f32; WIDTH]) {
        let numbers = numbers.as_mut_ptr();
        unsafe {
            _mm256_storeu_ps(numbers, vector[0]);
            _mm256_storeu_ps(numbers.add(8), vector[1]);
        }
    }

    #[inline(always)]
    fn mul(a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])] }
    }

    #[inline(always)]
    fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector {
        unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
    }

    #[inline(always)]
    fn fma(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        unsafe {
            if FUSED {
                [
                    _mm256_fmadd_ps(a[0], b[0], c[0]),
                    _mm256_fmadd_ps(a[1], b[1], c[1]),
                ]
            } else {
                [
                    _mm256_add_ps(_mm256_mul_ps(a[0], b[0]), c[0]),
                    _mm256_add_ps(_mm256_mul_ps(a[1], b[1]), c[1]),
                ]
            }
        }
    }

    #[inline(always)]
    fn widen_f16(halves: &[f16; WIDTH]) -> Self::Vector {
        let halves: *const __m128i = halves.as_ptr().cast();
        unsafe {
            [
                _mm256_cvtph_ps(_mm_loadu_si128(halves)),
                _mm256_cvtph_ps(_mm_loadu_si128(halves.add(1))),
            ]
        }
    }

    #[inline(always)]
    fn widen_bf16(halves: &[bf16; WIDTH]) -> Self::Vector {
        let halves: *const __m128i = halves.as_ptr().cast();
        unsafe {
            let first = _mm256_cvtepu16_epi32(_mm_loadu_si128(halves));
            let second = _mm256_cvtepu16_epi32(_mm_loadu_si128(halves.add(1)));
            [
                _mm256_castsi256_ps(_mm256_slli_epi32::<16>(first)),
                _mm256_castsi256_ps(_mm256_slli_epi32::<16>(second)),
            ]
        }
    }

    #[inline(always)]
    fn widen_i8(integers: &[i8; WIDTH]) -> Self::Vector {
        let integers = integers.as_ptr();
        unsafe {
            let first = _mm256_cvtepi8_epi32(_mm_loadl_epi64(integers.cast()));
            let second = _mm256_cvtepi8_epi32(_mm_loadl_epi64(integers.add(8).cast()));
            [_mm256_cvtepi32_ps(first), _mm256_cvtepi32_ps(second)]
        }
    }

    #[inline(always)]
    fn widen_nibbles<const BIT: u32>(words: &[u32; WIDTH]) -> Self::Vector {
        let words = words.as_ptr();
        unsafe {
            [
                eight_nibbles::<BIT>(_mm256_loadu_si256(words.cast())),
                eight_nibbles::<BIT>(_mm256_loadu_si256(words.add(8).cast())),
            ]
        }
    }

    #[inline(always)]
    fn look_up_e2m1(codes: &[u8; WIDTH]) -> [[i8; WIDTH]; 2] {
        unsafe { look_up_e2m1(codes) }
    }
}

/// [`E2M1_DOUBLED`], as f32.
static E2M1_WIDENED: [f32; 16] = {
    let mut widened = [0.0; 16];
    let mut code = 0;
    while code < widened.len() {
        widened[code] = E2M1_DOUBLED[code] as f32;
        code += 1;
    }
    widened
};

/// [`Isa::look_up_e2m1`]
#[target_feature(enable = "avx2")]
#[inline]
fn look_up_e2m1(codes: &[u8; WIDTH]) -> [[i8; WIDTH]; 2] {
    // SAFETY: 16 bytes are read from arrays of 16.
    let (codes, numbers) = unsafe {
        let (codes, numbers) = (codes.as_ptr().cast(), E2M1_DOUBLED.as_ptr().cast());
        (_mm_loadu_si128(codes), _mm_loadu_si128(numbers))
    };
    let (low, high) = (_mm_set1_epi8(15), _mm_srli_epi16::<4>(codes));
    let lower = _mm_shuffle_epi8(numbers, _mm_and_si128(codes, low));
    let upper = _mm_shuffle_epi8(numbers, _mm_and_si128(high, low));
    let mut found = [[0; WIDTH]; 2];
    // SAFETY: 16 bytes are written to each of two arrays of 16.
    unsafe {
        _mm_storeu_si128(found[0].as_mut_ptr().cast(), lower);
        _mm_storeu_si128(found[1].as_mut_ptr().cast(), upper);
    }
    found
}

/// [`Isa::widen_nibbles`] of eight words.
#[target_feature(enable = "avx2")]
#[inline]
fn eight_nibbles<const BIT: u32>(words: __m256i) -> __m256 {
    let moved = if BIT <= ONE_OF_16 {
        _mm256_sll_epi32(words, _mm_cvtsi32_si128((ONE_OF_16 - BIT) as i32))
    } else {
        _mm256_srl_epi32(words, _mm_cvtsi32_si128((BIT - ONE_OF_16) as i32))
    };
    let nibble = _mm256_and_si256(moved, _mm256_set1_epi32(15 << ONE_OF_16));
    _mm256_castsi256_ps(_mm256_or_si256(nibble, _mm256_set1_epi32(16.0_f32.to_bits() as i32)))
}
