//! Loops compiled for the widest vector instructions of the processor.

use slowburn::kernels::Simd;

/// A loop over vectors. Its `run` must be inlined into the functions below, to be compiled for
/// their instruction sets.
pub trait Loop {
    type Output;

    /// `CHAINS` sums of 16 numbers hide the latency of an addition and still fit in registers.
    /// `FUSED` says whether the processor has a fused multiply-add.
    fn run<const CHAINS: usize, const FUSED: bool>(self) -> Self::Output;
}

/// Runs the loop as compiled for `simd`.
pub fn run<L: Loop>(simd: Simd, work: L) -> L::Output {
    match simd {
        // SAFETY: the guard has checked that this processor has the instructions.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512 | Simd::Amx if simd.is_available() => unsafe { avx512(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2 if simd.is_available() => unsafe { avx2(work) },
        Simd::Neon => work.run::<5, true>(),
        _ => work.run::<2, false>(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn avx512<L: Loop>(work: L) -> L::Output {
    work.run::<10, true>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2<L: Loop>(work: L) -> L::Output {
    work.run::<5, true>()
}
