//! The instruction sets of 64-bit Arm.

use std::arch::aarch64::{
    vcvt_f32_f16, vcvt_high_f32_f16, vget_low_f16, vld1q_u16, vreinterpretq_f16_u16, vst1q_f32,
};

use half::f16;

use super::{Isa, Kernel, RowKernel, passes};

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

impl Isa for Neon {
    passes!(neon_rows: 1 2 3 4 6);
    const HALVES: bool = true;
    const PANELS: usize = 2;

    #[inline(always)]
    fn widen_f16<const L: usize>(halves: &[f16; L]) -> [f32; L] {
        widen_f16(halves)
    }
}

impl Isa for NeonDot {
    const PASSES: &'static [usize] = Neon::PASSES;
    const HALVES: bool = Neon::HALVES;
    const PANELS: usize = Neon::PANELS;

    #[inline(always)]
    unsafe fn with_rows<K: RowKernel>(rows: usize, kernel: K) -> K::Output {
        // SAFETY: every 64-bit Arm processor has what `Neon` asks for.
        unsafe { Neon::with_rows(rows, kernel) }
    }

    #[inline(always)]
    fn widen_f16<const L: usize>(halves: &[f16; L]) -> [f32; L] {
        widen_f16(halves)
    }
}

/// By NEON's instruction: the arithmetic in `widen_one_f16` compiles to several.
#[inline(always)]
fn widen_f16<const L: usize>(halves: &[f16; L]) -> [f32; L] {
    const { assert!(L.is_multiple_of(8)) };
    let mut values = [0.0; L];
    let (eights, _) = halves.as_chunks::<8>();
    let (results, _) = values.as_chunks_mut::<8>();
    for (eight, result) in eights.iter().zip(results) {
        // SAFETY: every 64-bit Arm processor has NEON. Eight numbers are read from an array of eight, an
        // `f16` being its 16 bits, and twice four are written to an array of eight.
        unsafe {
            let eight = vreinterpretq_f16_u16(vld1q_u16(eight.as_ptr().cast()));
            vst1q_f32(result.as_mut_ptr(), vcvt_f32_f16(vget_low_f16(eight)));
            vst1q_f32(result[4..].as_mut_ptr(), vcvt_high_f32_f16(eight));
        }
    }
    values
}
