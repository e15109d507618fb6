//! The instruction sets of 64-bit Arm.

use std::arch::aarch64::*;

use half::{bf16, f16};

use crate::kernels::pairs::PairProducts;
use crate::kernels::quantized::E2M1_DOUBLED;

use super::{FUSED, Isa, Kernel, ONE_OF_16, RowKernel, WIDTH, is_tile, passes};

#[target_feature(enable = "neon,dotprod")]
pub fn neon_dot<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<NeonDot>()
}

/// Every 64-bit Arm processor has NEON, so nothing has to be enabled.
unsafe fn neon_rows<K: RowKernel, const M: usize>(kernel: K) -> K::Output {
    kernel.run::<Neon, M>()
}

#[derive(Clone, Copy)]
pub struct Neon;

/// NEON with products of bytes.
#[derive(Clone, Copy)]
pub struct NeonDot;

/// The operations of NEON on four registers of four lanes.
macro_rules! in_four_registers {
    () => {
        type Vector = [float32x4_t; 4];
        const SUMS: usize = 6;

        // SAFETY, of all of these: every 64-bit Arm processor has NEON. As many numbers are read and
        // written as the arrays have.

        #[inline(always)]
        fn splat(number: f32) -> Self::Vector {
            [unsafe { vdupq_n_f32(number) }; 4]
        }

        #[inline(always)]
        fn load(numbers: &[f32; WIDTH]) -> Self::Vector {
            let numbers = numbers.as_ptr();
            unsafe {
                [
                    vld1q_f32(numbers),
                    vld1q_f32(numbers.add(4)),
                    vld1q_f32(numbers.add(8)),
                    vld1q_f32(numbers.add(12)),
                ]
            }
        }

        #[inline(always)]
        fn store(vector: Self::Vector, numbers: &mut [f32; WIDTH]) {
            let numbers = numbers.as_mut_ptr();
            unsafe {
                vst1q_f32(numbers, vector[0]);
                vst1q_f32(numbers.add(4), vector[1]);
                vst1q_f32(numbers.add(8), vector[2]);
                vst1q_f32(numbers.add(12), vector[3]);
            }
        }

        #[inline(always)]
        fn mul(a: Self::Vector, b: Self::Vector) -> Self::Vector {
            unsafe {
                [
                    vmulq_f32(a[0], b[0]),
                    vmulq_f32(a[1], b[1]),
                    vmulq_f32(a[2], b[2]),
                    vmulq_f32(a[3], b[3]),
                ]
            }
        }

        #[inline(always)]
        fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector {
            unsafe {
                [
                    vaddq_f32(a[0], b[0]),
                    vaddq_f32(a[1], b[1]),
                    vaddq_f32(a[2], b[2]),
                    vaddq_f32(a[3], b[3]),
                ]
            }
        }

        #[inline(always)]
        fn fma(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
            [
                fma_four(a[0], b[0], c[0]),
                fma_four(a[1], b[1], c[1]),
                fma_four(a[2], b[2], c[2]),
                fma_four(a[3], b[3], c[3]),
            ]
        }

        #[inline(always)]
        fn widen_f16(halves: &[f16; WIDTH]) -> Self::Vector {
            let halves: *const u16 = halves.as_ptr().cast();
            unsafe {
                let first = vreinterpretq_f16_u16(vld1q_u16(halves));
                let second = vreinterpretq_f16_u16(vld1q_u16(halves.add(8)));
                [
                    vcvt_f32_f16(vget_low_f16(first)),
                    vcvt_high_f32_f16(first),
                    vcvt_f32_f16(vget_low_f16(second)),
                    vcvt_high_f32_f16(second),
                ]
            }
        }

        #[inline(always)]
        fn widen_bf16(halves: &[bf16; WIDTH]) -> Self::Vector {
            let halves: *const u16 = halves.as_ptr().cast();
            unsafe {
                let (first, second) = (vld1q_u16(halves), vld1q_u16(halves.add(8)));
                [
                    vreinterpretq_f32_u32(vshll_n_u16::<16>(vget_low_u16(first))),
                    vreinterpretq_f32_u32(vshll_high_n_u16::<16>(first)),
                    vreinterpretq_f32_u32(vshll_n_u16::<16>(vget_low_u16(second))),
                    vreinterpretq_f32_u32(vshll_high_n_u16::<16>(second)),
                ]
            }
        }

        #[inline(always)]
        fn widen_i8(integers: &[i8; WIDTH]) -> Self::Vector {
            unsafe {
                let integers = vld1q_s8(integers.as_ptr());
                let (first, second) = (vmovl_s8(vget_low_s8(integers)), vmovl_high_s8(integers));
                [
                    vcvtq_f32_s32(vmovl_s16(vget_low_s16(first))),
                    vcvtq_f32_s32(vmovl_high_s16(first)),
                    vcvtq_f32_s32(vmovl_s16(vget_low_s16(second))),
                    vcvtq_f32_s32(vmovl_high_s16(second)),
                ]
            }
        }

        #[inline(always)]
        fn widen_nibbles<const BIT: u32>(words: &[u32; WIDTH]) -> Self::Vector {
            let words = words.as_ptr();
            unsafe {
                [
                    four_nibbles::<BIT>(vld1q_u32(words)),
                    four_nibbles::<BIT>(vld1q_u32(words.add(4))),
                    four_nibbles::<BIT>(vld1q_u32(words.add(8))),
                    four_nibbles::<BIT>(vld1q_u32(words.add(12))),
                ]
            }
        }

        #[inline(always)]
        fn look_up_e2m1(codes: &[u8; WIDTH]) -> [[i8; WIDTH]; 2] {
            let mut found = [[0; WIDTH]; 2];
            unsafe {
                let numbers = vld1q_s8(E2M1_DOUBLED.as_ptr());
                let codes = vld1q_u8(codes.as_ptr());
                let lower = vqtbl1q_s8(numbers, vandq_u8(codes, vdupq_n_u8(15)));
                let upper = vqtbl1q_s8(numbers, vshrq_n_u8::<4>(codes));
                vst1q_s8(found[0].as_mut_ptr(), lower);
                vst1q_s8(found[1].as_mut_ptr(), upper);
            }
            found
        }
    };
}

/// `a * b + c`
#[inline(always)]
fn fma_four(a: float32x4_t, b: float32x4_t, c: float32x4_t) -> float32x4_t {
    // SAFETY: every 64-bit Arm processor has NEON.
    unsafe {
        if FUSED {
            vfmaq_f32(c, a, b)
        } else {
            vaddq_f32(vmulq_f32(a, b), c)
        }
    }
}

/// [`Isa::widen_nibbles`] of four words.
#[inline(always)]
fn four_nibbles<const BIT: u32>(words: uint32x4_t) -> float32x4_t {
    // SAFETY: every 64-bit Arm processor has NEON.
    unsafe {
        // A shift by a negative number is one to the right. The compiler makes one by a constant of it.
        let moved = vshlq_u32(words, vdupq_n_s32(ONE_OF_16 as i32 - BIT as i32));
        let nibble = vandq_u32(moved, vdupq_n_u32(15 << ONE_OF_16));
        vreinterpretq_f32_u32(vorrq_u32(nibble, vdupq_n_u32(16.0_f32.to_bits())))
    }
}

impl PairProducts for Neon {}
impl PairProducts for NeonDot {}

impl Isa for Neon {
    in_four_registers!();
    passes!(neon_rows: 1 2 3 4 5 6);
}

impl Isa for NeonDot {
    in_four_registers!();
    const ROWS: usize = Neon::ROWS;

    #[inline(always)]
    unsafe fn with_rows<K: RowKernel>(rows: usize, kernel: K) -> K::Output {
        // SAFETY: every 64-bit Arm processor has what `Neon` asks for.
        unsafe { Neon::with_rows(rows, kernel) }
    }
}
