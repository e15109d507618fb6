//! Instruction sets: one source, compiled for each, selected at run time.
//!
//! A kernel is written once, in plain Rust on arrays of lanes. [`Simd::dispatch`] calls it from a
//! function that was compiled with the instructions of one set enabled; since the kernel is
//! inlined there, the compiler turns its loops over lanes into that set's vector instructions.
//! Lanes never exchange anything, so every set gives the same bits.

#[cfg(target_arch = "aarch64")]
pub(super) mod arm;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

use std::fmt::{self, Display, Formatter};

use half::f16;

use super::quantized::IntegerProducts;

/// The instruction sets that the kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Simd {
    /// 16 f32 lanes in a register: AVX-512 (F, VL, DQ, BW) with FMA. Products of bytes use VNNI where
    /// the processor has it.
    Avx512,
    /// 8 f32 lanes in a register: AVX2 with FMA and F16C.
    Avx2,
    /// 4 f32 lanes in a register: every 64-bit Arm processor. Products of bytes use `sdot` where the
    /// processor has it.
    Neon,
    /// No vector instructions: the reference that the others must match bit by bit.
    Scalar,
}

/// Work that is compiled once for each instruction set.
pub(super) trait Kernel {
    type Output;

    /// Must be `#[inline(always)]`, and so must everything it calls: a function that is not inlined
    /// is compiled without the vector instructions.
    fn run<I: Isa>(self) -> Self::Output;
}

/// Work that is compiled once for each instruction set and each number of rows that a pass may have.
pub(super) trait RowKernel {
    type Output;

    /// As [`Kernel::run`], it must be inlined.
    fn run<I: Isa, const M: usize>(self) -> Self::Output;
}

// ANCHOR: isa
/// The properties of an instruction set that the kernels depend on.
pub(super) trait Isa: Copy + IntegerProducts {
    /// The numbers of rows that a pass of the microkernel may have, in rising order from 1. More
    /// accumulators than registers would spill to memory, and each number adds a copy of the
    /// kernels. 7 and 8 rows must not be among them: the compiler vectorises those across rows
    /// instead of lanes, which is 20 times slower.
    const PASSES: &'static [usize];
    /// Whether more than 3 rows are computed in two halves of 16 lanes, to fit into the registers.
    const HALVES: bool;
    /// The panels that one row is multiplied with at a time, at most: 2 or 4. Their sums must fit into
    /// the registers, beside the weights.
    const PANELS: usize;

    /// Calls `kernel` with a constant that equals `rows`, one of [`PASSES`](Self::PASSES).
    ///
    /// # Safety
    /// The processor must have these instructions.
    unsafe fn with_rows<K: RowKernel>(rows: usize, kernel: K) -> K::Output;

    /// Widens f16 to f32, exactly.
    fn widen_f16<const L: usize>(halves: &[f16; L]) -> [f32; L];
}
// ANCHOR_END: isa

impl Simd {
    /// The widest instruction set that this processor has.
    pub fn detect() -> Self {
        Self::available()[0]
    }

    /// All instruction sets of this processor, widest first. The last one is [`Simd::Scalar`].
    pub fn available() -> Vec<Self> {
        let all = [Self::Avx512, Self::Avx2, Self::Neon, Self::Scalar];
        all.into_iter().filter(|simd| simd.is_available()).collect()
    }

    /// Whether this processor has these instructions.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512bw")
                    && Self::Avx2.is_available()
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
                    && is_x86_feature_detected!("f16c")
            }
            Self::Neon => cfg!(target_arch = "aarch64"),
            Self::Scalar => true,
            #[allow(unreachable_patterns)] // those of another processor
            _ => false,
        }
    }

    /// The name that the flag `--simd` uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Scalar => "scalar",
        }
    }

    /// [`Isa::PASSES`] and [`Isa::HALVES`].
    fn properties(self) -> (&'static [usize], bool) {
        struct Properties;
        impl Kernel for Properties {
            type Output = (&'static [usize], bool);

            #[inline(always)]
            fn run<I: Isa>(self) -> Self::Output {
                (I::PASSES, I::HALVES)
            }
        }
        self.dispatch(Properties)
    }

    /// Whether more than 3 rows are computed in two halves.
    pub(super) fn has_halves(self) -> bool {
        self.properties().1
    }

    /// Splits `rows` into passes of the microkernel.
    pub(super) fn passes(self, rows: usize) -> Vec<usize> {
        let (sizes, _) = self.properties();
        let mut left = rows;
        let mut passes = Vec::new();
        while left > 0 {
            // Passes of about the same size: 4 and 4 are faster than 6 and 2.
            let wanted = match left {
                5 => 3,
                7 | 8 | 11 => 4,
                left => left,
            };
            let pass = sizes.iter().rfind(|size| **size <= wanted).copied().unwrap_or(1);
            passes.push(pass);
            left -= pass;
        }
        passes
    }

    // ANCHOR: dispatch
    /// Runs the kernel compiled for this instruction set, or the scalar one where this target lacks
    /// it.
    pub(super) fn dispatch<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            // SAFETY: `Cpu` is built only with an instruction set that the processor has.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { x86::avx512(kernel) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::avx2(kernel) },
            #[cfg(target_arch = "aarch64")]
            Self::Neon => kernel.run::<arm::Neon>(),
            _ => kernel.run::<Scalar>(),
        }
    }
    // ANCHOR_END: dispatch

    /// As [`dispatch`](Self::dispatch), for a kernel with products of integers.
    pub(super) fn dispatch_integers<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            // SAFETY: as for `dispatch`, and the processor has VNNI too.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 if is_x86_feature_detected!("avx512vnni") => unsafe {
                x86::avx512_vnni(kernel)
            },
            // SAFETY: the processor has these products.
            #[cfg(target_arch = "aarch64")]
            Self::Neon if std::arch::is_aarch64_feature_detected!("dotprod") => unsafe {
                arm::neon_dot(kernel)
            },
            _ => self.dispatch(kernel),
        }
    }

    /// Runs the kernel compiled for this instruction set and this number of rows, one of those that
    /// [`passes`](Self::passes) gives.
    ///
    /// Each is a function of its own. In one that has them all, the compiler's time grows much
    /// faster than the code.
    pub(super) fn dispatch_rows<K: RowKernel>(self, rows: usize, kernel: K) -> K::Output {
        // SAFETY: as for `dispatch`. `Scalar` needs no instructions that a processor may lack.
        unsafe {
            match self {
                #[cfg(target_arch = "x86_64")]
                Self::Avx512 => x86::Avx512::with_rows(rows, kernel),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2 => x86::Avx2::with_rows(rows, kernel),
                #[cfg(target_arch = "aarch64")]
                Self::Neon => arm::Neon::with_rows(rows, kernel),
                _ => Scalar::with_rows(rows, kernel),
            }
        }
    }
}

impl Display for Simd {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Whether [`fma`] rounds once.
pub(super) const FUSED: bool = !cfg!(any(target_arch = "wasm32", slowburn_unfused));

/// `a * b + c`, rounded once.
///
/// wasm32 has no such instruction, and emulating it is far too slow, so there the product is
/// rounded too. The bits then differ from those of other processors, but are still equal among
/// batches and threads. `--cfg slowburn_unfused` computes these bits on any processor: `.ci/unfused`.
#[inline(always)]
pub(super) fn fma(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// f16 to f32 without a conversion instruction. Shifted into the exponent and mantissa of an f32,
/// the number is too small by a factor of 2^112; the multiplication by that is exact, also for a
/// subnormal f16. Infinities and NaNs get the greatest exponent.
#[inline(always)]
pub(super) fn widen_one_f16(half: u16) -> f32 {
    const SCALE: f32 = f32::from_bits((127 + 112) << 23);
    let bits = u32::from(half);
    let magnitude = bits & 0x7fff;
    let scaled = (f32::from_bits(magnitude << 13) * SCALE).to_bits();
    let special = (magnitude << 13) | 0x7f80_0000;
    let value = if magnitude >= 0x7c00 { special } else { scaled };
    f32::from_bits(value | (bits & 0x8000) << 16)
}

/// `PASSES`, and `with_rows` by a function that was compiled with the instructions enabled.
macro_rules! passes {
    ($function:ident: $($rows:literal)+) => {
        const PASSES: &'static [usize] = &[$($rows),+];

        #[inline(always)]
        unsafe fn with_rows<K: RowKernel>(rows: usize, kernel: K) -> K::Output {
            match rows {
                // SAFETY: the caller says that the processor has the instructions.
                $($rows => unsafe { $function::<K, $rows>(kernel) },)+
                rows => unreachable!("no pass has {rows} rows"),
            }
        }
    };
}
// Other processors have the scalar instructions alone.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use passes;

#[derive(Clone, Copy)]
struct Scalar;

unsafe fn scalar_rows<K: RowKernel, const M: usize>(kernel: K) -> K::Output {
    kernel.run::<Scalar, M>()
}

impl IntegerProducts for Scalar {}

impl Isa for Scalar {
    passes!(scalar_rows: 1);
    const HALVES: bool = false;
    const PANELS: usize = 4;

    #[inline(always)]
    fn widen_f16<const L: usize>(halves: &[f16; L]) -> [f32; L] {
        halves.map(|half| widen_one_f16(half.to_bits()))
    }
}
