//! Instruction sets: one source, compiled for each, selected at run time.
//!
//! A kernel is written once, in plain Rust on arrays of lanes. [`Simd::dispatch`] calls it from a
//! function that was compiled with the instructions of one set enabled; since the kernel is
//! inlined there, the compiler turns its loops over lanes into that set's vector instructions. The
//! microkernel leaves less to the compiler: what it keeps in registers is an [`Isa::Vector`].
//! Lanes never exchange anything, so every set gives the same bits.

#[cfg(target_arch = "aarch64")]
pub(super) mod arm;
#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

use std::fmt::{self, Display, Formatter};

use half::{bf16, f16};

#[cfg(target_arch = "x86_64")]
use super::pairs;
use super::pairs::{Form, PairProducts};
use super::quantized::{E2M1_DOUBLED, IntegerProducts};

/// The numbers of a vector.
pub(super) const WIDTH: usize = 16;

/// The instruction sets that the kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Simd {
    /// Products of bf16 by AMX, the matrix unit of some of Intel's processors. All else as AVX-512.
    Amx,
    /// 16 f32 lanes in a register: AVX-512 (F, VL, DQ, BW) with FMA. Products of bytes use VNNI where
    /// the processor has it, and products of bf16 AVX512_BF16.
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

    /// Whether it is compiled for every number of rows. Otherwise it is for those of
    /// [`Simd::tiles`], which takes half the time.
    const EVERY: bool = true;

    /// As [`Kernel::run`], it must be inlined.
    fn run<I: Isa, const M: usize>(self) -> Self::Output;
}

/// An instruction set, as the kernels see it.
pub(super) trait Isa: Copy + IntegerProducts + PairProducts {
    /// 16 numbers in registers: in one of AVX-512, two of AVX2, four of NEON.
    type Vector: Copy;
    /// The vectors of sums that fit into the registers, beside weights.
    const SUMS: usize;
    /// The rows that a pass of the microkernel has at most.
    const ROWS: usize;

    /// Calls `kernel` with a constant that equals `rows`, from 1 to [`ROWS`](Self::ROWS).
    ///
    /// # Safety
    /// The processor must have these instructions.
    unsafe fn with_rows<K: RowKernel>(rows: usize, kernel: K) -> K::Output;

    /// 16 times the same number.
    fn splat(number: f32) -> Self::Vector;
    fn load(numbers: &[f32; WIDTH]) -> Self::Vector;
    fn store(vector: Self::Vector, numbers: &mut [f32; WIDTH]);

    fn mul(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`, as [`fma`].
    fn fma(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;

    // Each of these is exact.
    fn widen_f16(halves: &[f16; WIDTH]) -> Self::Vector;
    fn widen_bf16(halves: &[bf16; WIDTH]) -> Self::Vector;
    fn widen_i8(integers: &[i8; WIDTH]) -> Self::Vector;
    /// The nibbles that begin at `BIT` of each word, plus 16: [`nibble_plus_16`].
    fn widen_nibbles<const BIT: u32>(words: &[u32; WIDTH]) -> Self::Vector;
    /// [`E2M1_DOUBLED`] of the lower halves of 16 bytes, and of the upper ones.
    fn look_up_e2m1(codes: &[u8; WIDTH]) -> [[i8; WIDTH]; 2];
    #[inline(always)]
    fn widen_e2m1(codes: &[u8; WIDTH]) -> [Self::Vector; 2] {
        let [lower, upper] = Self::look_up_e2m1(codes);
        [Self::widen_i8(&lower), Self::widen_i8(&upper)]
    }
}

impl Simd {
    /// The widest instruction set that this processor has.
    pub fn detect() -> Self {
        Self::available()[0]
    }

    /// All instruction sets of this processor, widest first. The last one is [`Simd::Scalar`].
    pub fn available() -> Vec<Self> {
        let all = [
            Self::Amx,
            Self::Avx512,
            Self::Avx2,
            Self::Neon,
            Self::Scalar,
        ];
        all.into_iter().filter(|simd| simd.is_available()).collect()
    }

    /// Whether this processor has these instructions.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Amx => Self::Avx512.is_available() && pairs::amx::is_available(),
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
            Self::Amx => "amx",
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Neon => "neon",
            Self::Scalar => "scalar",
        }
    }

    /// [`Isa::ROWS`]
    fn most_rows(self) -> usize {
        struct MostRows;
        impl Kernel for MostRows {
            type Output = usize;

            #[inline(always)]
            fn run<I: Isa>(self) -> Self::Output {
                I::ROWS
            }
        }
        self.dispatch(MostRows)
    }

    /// Splits `rows` into passes of the microkernel: as many rows in each as it takes, since then
    /// arithmetic hides the time that weights take to arrive, and the rest in the last one.
    pub(super) fn passes(self, rows: usize) -> Vec<usize> {
        let most = self.most_rows();
        (0..rows).step_by(most).map(|first| most.min(rows - first)).collect()
    }

    /// Splits `rows` into tiles, of which there are fewer sizes than of [passes](Self::passes).
    pub(super) fn tiles(self, rows: usize) -> Vec<usize> {
        let mut left = rows;
        let mut tiles = Vec::new();
        while left > 0 {
            // Tiles of about the same size: 4 and 4 are faster than 6 and 2.
            let wanted = match left {
                5 => 3,
                7 | 8 | 11 => 4,
                left => left,
            };
            let most = wanted.min(self.most_rows());
            let tile = (1..=most).rev().find(|size| is_tile(*size)).unwrap_or(1);
            tiles.push(tile);
            left -= tile;
        }
        tiles
    }

    // ANCHOR: dispatch
    /// Runs the kernel compiled for this instruction set, or the scalar one where this target lacks
    /// it.
    pub(super) fn dispatch<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            // SAFETY: `Cpu` is built only with an instruction set that the processor has.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 | Self::Amx => unsafe { x86::avx512(kernel) },
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
            Self::Avx512 | Self::Amx if is_x86_feature_detected!("avx512vnni") => unsafe {
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
                Self::Avx512 | Self::Amx => x86::Avx512::with_rows(rows, kernel),
                #[cfg(target_arch = "x86_64")]
                Self::Avx2 => x86::Avx2::with_rows(rows, kernel),
                #[cfg(target_arch = "aarch64")]
                Self::Neon => arm::Neon::with_rows(rows, kernel),
                _ => Scalar::with_rows(rows, kernel),
            }
        }
    }
}

impl Simd {
    /// As [`dispatch_rows`](Self::dispatch_rows), for a kernel with products of bf16.
    pub(super) fn dispatch_pairs<K: RowKernel>(self, rows: usize, kernel: K) -> K::Output {
        match self {
            // SAFETY: the processor has these products too.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 | Self::Amx if pairs::x86::is_available() => unsafe {
                x86::Avx512Bf16::with_rows(rows, kernel)
            },
            _ => self.dispatch_rows(rows, kernel),
        }
    }

    /// The form in which such a kernel wants activations.
    pub(super) fn form_of_pairs(self) -> Form {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 | Self::Amx if pairs::x86::is_available() => Form::Words,
            _ => Form::Numbers,
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

/// bf16 to f32: a bf16 is the upper half of an f32.
#[inline(always)]
pub(super) fn widen_one_bf16(half: bf16) -> f32 {
    f32::from_bits(u32::from(half.to_bits()) << 16)
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

// ANCHOR: nibble
/// The nibble that begins at a bit of a word, plus 16.
///
/// An f32 from 16 to 31 has the number's lowest four integer bits at the top of its mantissa, below
/// the exponent of 16. So a nibble that is moved there, below that exponent, is the number
/// 16 + nibble: one shift and one logical operation, where a conversion takes longer.
#[inline(always)]
pub(super) fn nibble_plus_16(word: u32, bit: u32) -> f32 {
    let moved = if bit <= ONE_OF_16 {
        word << (ONE_OF_16 - bit)
    } else {
        word >> (bit - ONE_OF_16)
    };
    f32::from_bits(moved & (15 << ONE_OF_16) | 16.0_f32.to_bits())
}

/// The bit of the mantissa that counts as 1, in a number from 16 to 31.
const ONE_OF_16: u32 = 19;
// ANCHOR_END: nibble

/// `ROWS`, and `with_rows` by a function that was compiled with the instructions enabled.
macro_rules! passes {
    ($function:ident: $($rows:literal)+) => {
        const ROWS: usize = [$($rows),+].len();

        #[inline(always)]
        unsafe fn with_rows<K: RowKernel>(rows: usize, kernel: K) -> K::Output {
            match rows {
                // SAFETY: the caller says that the processor has the instructions.
                $($rows if const { K::EVERY || is_tile($rows) } => unsafe {
                    $function::<K, $rows>(kernel)
                },)+
                rows => unreachable!("no pass has {rows} rows"),
            }
        }
    };
}
// Other processors have the scalar instructions alone.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use passes;

/// Whether [`Simd::tiles`] has tiles of so many rows.
const fn is_tile(rows: usize) -> bool {
    matches!(rows, 1 | 2 | 3 | 4 | 6 | 12)
}

/// Arrays, whose loops the compiler makes of whatever instructions the target always has.
#[derive(Clone, Copy)]
struct Scalar;

unsafe fn scalar_rows<K: RowKernel, const M: usize>(kernel: K) -> K::Output {
    kernel.run::<Scalar, M>()
}

impl IntegerProducts for Scalar {}
impl PairProducts for Scalar {}

impl Isa for Scalar {
    type Vector = [f32; WIDTH];
    const SUMS: usize = 8;
    passes!(scalar_rows: 1);

    #[inline(always)]
    fn splat(number: f32) -> Self::Vector {
        [number; WIDTH]
    }

    #[inline(always)]
    fn load(numbers: &[f32; WIDTH]) -> Self::Vector {
        *numbers
    }

    #[inline(always)]
    fn store(vector: Self::Vector, numbers: &mut [f32; WIDTH]) {
        *numbers = vector;
    }

    #[inline(always)]
    fn mul(a: Self::Vector, b: Self::Vector) -> Self::Vector {
        let mut products = a;
        for lane in 0..WIDTH {
            products[lane] = a[lane] * b[lane];
        }
        products
    }

    #[inline(always)]
    fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector {
        let mut sums = a;
        for lane in 0..WIDTH {
            sums[lane] = a[lane] + b[lane];
        }
        sums
    }

    #[inline(always)]
    fn fma(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        let mut sums = c;
        for lane in 0..WIDTH {
            sums[lane] = fma(a[lane], b[lane], c[lane]);
        }
        sums
    }

    #[inline(always)]
    fn widen_f16(halves: &[f16; WIDTH]) -> Self::Vector {
        each(halves, |half| widen_one_f16(half.to_bits()))
    }

    #[inline(always)]
    fn widen_bf16(halves: &[bf16; WIDTH]) -> Self::Vector {
        each(halves, widen_one_bf16)
    }

    #[inline(always)]
    fn widen_i8(integers: &[i8; WIDTH]) -> Self::Vector {
        each(integers, f32::from)
    }

    #[inline(always)]
    fn widen_nibbles<const BIT: u32>(words: &[u32; WIDTH]) -> Self::Vector {
        each(words, |word| nibble_plus_16(word, BIT))
    }

    #[inline(always)]
    fn look_up_e2m1(codes: &[u8; WIDTH]) -> [[i8; WIDTH]; 2] {
        let mut numbers = [[0; WIDTH]; 2];
        for (lane, code) in codes.iter().enumerate() {
            numbers[0][lane] = E2M1_DOUBLED[usize::from(code & 15)];
            numbers[1][lane] = E2M1_DOUBLED[usize::from(code >> 4)];
        }
        numbers
    }
}

/// A loop, since the compiler keeps `map` of an array as a call.
#[inline(always)]
fn each<T: Copy>(numbers: &[T; WIDTH], widen: impl Fn(T) -> f32) -> [f32; WIDTH] {
    let mut widened = [0.0; WIDTH];
    for (widened, number) in widened.iter_mut().zip(numbers) {
        *widened = widen(*number);
    }
    widened
}
