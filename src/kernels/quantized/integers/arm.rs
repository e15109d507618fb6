//! Products of integers by the instructions of 64-bit Arm.

use std::arch::aarch64::*;
use std::arch::asm;
use std::array;

use super::{GROUP, IntegerProducts, LANES, NIBBLES, RoundedGroup};
use crate::kernels::simd::FUSED;
use crate::kernels::simd::arm::{Neon, NeonDot};

/// Outputs in a register, in 32 bits each.
const FOUR: usize = 4;

/// Outputs that are computed at a time: the sums of so many for [`ROWS`] rows stay in registers.
const HALF: usize = LANES / 2;

/// The rows that are multiplied at a time.
const ROWS: usize = 4;

/// Four weights of each of [`HALF`] outputs.
type Quad = [int8x16_t; HALF / FOUR];

/// For half of a group.
type Quads = [Quad; GROUP / 8];

/// Sums of [`HALF`] outputs.
type Sums = [int32x4_t; HALF / FOUR];

/// [`IntegerProducts`], with the instruction for four products, or with several in its place.
macro_rules! products {
    ($isa:ident: $sdot:literal) => {
        impl IntegerProducts for $isa {
            #[inline(always)]
            fn add_bytes<const PARTS: usize>(
                weights: &[[i8; LANES]; GROUP],
                scales: &[[f32; LANES]; PARTS],
                x: &[RoundedGroup],
                acc: &mut [[f32; LANES]],
            ) {
                // SAFETY: every 64-bit Arm processor has NEON. `NeonDot` is named only by a function
                // that runs only where the processor has `sdot`.
                unsafe {
                    add_bytes::<$sdot, 0, PARTS>(weights, scales, x, acc);
                    add_bytes::<$sdot, HALF, PARTS>(weights, scales, x, acc);
                }
            }

            #[inline(always)]
            fn add_bytes_of_row<const PARTS: usize>(
                weights: &[[i8; LANES]; GROUP],
                scales: &[[f32; LANES]; PARTS],
                x: &RoundedGroup,
                acc: &mut [f32; LANES],
            ) {
                // SAFETY: as above.
                unsafe {
                    add_bytes_of_row::<$sdot, 0, PARTS>(weights, scales, x, acc);
                    add_bytes_of_row::<$sdot, HALF, PARTS>(weights, scales, x, acc);
                }
            }

            #[inline(always)]
            fn add_nibbles<const OFFSET: i32>(
                weights: &[[u32; LANES]; GROUP / NIBBLES],
                scales: &[f32; LANES],
                x: &[RoundedGroup],
                acc: &mut [[f32; LANES]],
            ) {
                // SAFETY: as above.
                unsafe {
                    add_nibbles::<$sdot, 0, OFFSET>(weights, scales, x, acc);
                    add_nibbles::<$sdot, HALF, OFFSET>(weights, scales, x, acc);
                }
            }

            #[inline(always)]
            fn add_nibbles_of_row<const OFFSET: i32>(
                weights: &[[u32; LANES]; GROUP / NIBBLES],
                scales: &[f32; LANES],
                x: &RoundedGroup,
                acc: &mut [f32; LANES],
            ) {
                // SAFETY: as above.
                unsafe {
                    add_nibbles_of_row::<$sdot, 0, OFFSET>(weights, scales, x, acc);
                    add_nibbles_of_row::<$sdot, HALF, OFFSET>(weights, scales, x, acc);
                }
            }
        }
    };
}

products!(Neon: false);
products!(NeonDot: true);

/// Rows of a group of activations.
struct Rows<const M: usize> {
    /// 16 integers in each register, for each half of the group.
    integers: [[int8x16_t; M]; 2],
    /// What the sums begin with.
    starts: [i32; M],
    scales: [f32; M],
}

impl<const M: usize> Rows<M> {
    #[target_feature(enable = "neon")]
    #[inline]
    fn for_bytes(x: &[RoundedGroup; M]) -> Self {
        let integers = [0, 1].map(|half| x.each_ref().map(|x| load(&x.quads, half)));
        Self {
            integers,
            starts: [0; M],
            scales: x.each_ref().map(|x| x.scale),
        }
    }

    #[target_feature(enable = "neon")]
    #[inline]
    fn for_nibbles<const OFFSET: i32>(x: &[RoundedGroup; M]) -> Self {
        let integers = [0, 1].map(|half| x.each_ref().map(|x| load(&x.nibble_quads, half)));
        let starts = x.each_ref().map(|x| if OFFSET > 0 { x.minus_8 } else { 0 });
        Self { integers, starts, scales: x.each_ref().map(|x| x.scale) }
    }

    #[target_feature(enable = "neon")]
    #[inline]
    fn start(&self) -> [Sums; M] {
        self.starts.map(|start| [vdupq_n_s32(start); HALF / FOUR])
    }
}

/// Half of the integers of a group.
#[target_feature(enable = "neon")]
#[inline]
fn load(quads: &[[i8; 4]; GROUP / 4], half: usize) -> int8x16_t {
    let integers = &quads.as_flattened()[half * 16..(half + 1) * 16];
    // SAFETY: 16 numbers are read from a slice of 16.
    unsafe { vld1q_s8(integers.as_ptr()) }
}

/// Brings four weights of an output together in 32 bits: `[k][outputs]` -> `[outputs][k]`, for the
/// outputs from `FIRST` on.
#[target_feature(enable = "neon")]
#[inline]
fn turn<const FIRST: usize>(weights: &[[i8; LANES]; 4]) -> Quad {
    // SAFETY: 16 numbers are read from a slice of 16.
    let [a, b, c, d] = weights
        .each_ref()
        .map(|weights| unsafe { vld1q_s8(weights[FIRST..FIRST + HALF].as_ptr()) });
    let low = (vzip1q_s8(a, b), vzip1q_s8(c, d));
    let low = (vreinterpretq_s16_s8(low.0), vreinterpretq_s16_s8(low.1));
    let high = (vzip2q_s8(a, b), vzip2q_s8(c, d));
    let high = (vreinterpretq_s16_s8(high.0), vreinterpretq_s16_s8(high.1));
    [
        vreinterpretq_s8_s16(vzip1q_s16(low.0, low.1)),
        vreinterpretq_s8_s16(vzip2q_s16(low.0, low.1)),
        vreinterpretq_s8_s16(vzip1q_s16(high.0, high.1)),
        vreinterpretq_s8_s16(vzip2q_s16(high.0, high.1)),
    ]
}

/// [`turn`] for half of a group.
#[target_feature(enable = "neon")]
#[inline]
fn turn_half<const FIRST: usize>(weights: &[[i8; LANES]; GROUP / 2]) -> Quads {
    array::from_fn(|quad| turn::<FIRST>(&weights.as_chunks().0[quad]))
}

/// The nibbles of half of a group: of each word the first, third, fifth and seventh, and the others.
#[target_feature(enable = "neon")]
#[inline]
fn split_half<const FIRST: usize>(words: &[[u32; LANES]; GROUP / NIBBLES / 2]) -> Quads {
    array::from_fn(|quad| {
        array::from_fn(|i| {
            let first = FIRST + i * FOUR;
            // SAFETY: four words are read from a slice of four.
            let words = unsafe { vld1q_u32(words[quad / 2][first..first + FOUR].as_ptr()) };
            let bytes = vreinterpretq_u8_u32(words);
            vreinterpretq_s8_u8(if quad % 2 == 0 {
                vandq_u8(bytes, vdupq_n_u8(15))
            } else {
                vshrq_n_u8::<4>(bytes)
            })
        })
    })
}

/// Adds to each of four sums the products of four weights with the `QUAD`-th four integers of `x`.
///
/// Without `sdot`, pairs of products are summed in 16 bits: each sum is at most 2 * 128 * 127.
#[target_feature(enable = "neon")]
#[inline]
fn dot<const SDOT: bool, const QUAD: i32>(
    sums: int32x4_t,
    weights: int8x16_t,
    x: int8x16_t,
) -> int32x4_t {
    if !SDOT {
        let x = vreinterpretq_s8_s32(vdupq_laneq_s32::<QUAD>(vreinterpretq_s32_s8(x)));
        let first = vmull_s8(vget_low_s8(weights), vget_low_s8(x));
        let second = vmull_high_s8(weights, x);
        return vpadalq_s16(sums, vpaddq_s16(first, second));
    }
    let added;
    // SAFETY: the instruction reads and writes registers only, and the processor has it. (The function
    // for it in the standard library is not stable.)
    unsafe {
        asm!(
            ".arch_extension dotprod",
            "sdot {sums:v}.4s, {weights:v}.16b, {x:v}.4b[{quad}]",
            sums = inlateout(vreg) sums => added,
            weights = in(vreg) weights,
            x = in(vreg) x,
            quad = const QUAD,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    added
}

/// [`dot`] for all outputs and rows.
#[target_feature(enable = "neon")]
#[inline]
fn add_quad<const SDOT: bool, const QUAD: i32, const M: usize>(
    sums: &mut [Sums; M],
    quad: &Quad,
    x: &[int8x16_t; M],
) {
    for (sums, x) in sums.iter_mut().zip(x) {
        for (sums, weights) in sums.iter_mut().zip(quad) {
            *sums = dot::<SDOT, QUAD>(*sums, *weights, *x);
        }
    }
}

/// Adds the products of half of a group.
#[target_feature(enable = "neon")]
#[inline]
fn add_half<const SDOT: bool, const M: usize>(
    sums: &mut [Sums; M],
    quads: &Quads,
    x: &[int8x16_t; M],
) {
    add_quad::<SDOT, 0, M>(sums, &quads[0], x);
    add_quad::<SDOT, 1, M>(sums, &quads[1], x);
    add_quad::<SDOT, 2, M>(sums, &quads[2], x);
    add_quad::<SDOT, 3, M>(sums, &quads[3], x);
}

/// Adds the products of a group, for the outputs from `FIRST` on, to `acc`.
#[target_feature(enable = "neon")]
#[inline]
fn add_rows<const SDOT: bool, const FIRST: usize, const M: usize, const PARTS: usize>(
    quads: &[Quads; 2],
    scales: &[[f32; LANES]; PARTS],
    x: &Rows<M>,
    acc: &mut [[f32; LANES]; M],
) {
    let mut sums = x.start();
    add_half::<SDOT, M>(&mut sums, &quads[0], &x.integers[0]);
    if PARTS == 2 {
        add_scaled::<FIRST, M>(acc, &scales[0], &x.scales, &sums);
        sums = x.start();
    }
    add_half::<SDOT, M>(&mut sums, &quads[1], &x.integers[1]);
    add_scaled::<FIRST, M>(acc, &scales[PARTS - 1], &x.scales, &sums);
}

/// Adds `sums * scales * x_scales` to the outputs of `acc` from `FIRST` on.
#[target_feature(enable = "neon")]
#[inline]
fn add_scaled<const FIRST: usize, const M: usize>(
    acc: &mut [[f32; LANES]; M],
    scales: &[f32; LANES],
    x_scales: &[f32; M],
    sums: &[Sums; M],
) {
    for ((acc, x_scale), sums) in acc.iter_mut().zip(x_scales).zip(sums) {
        for (i, sums) in sums.iter().enumerate() {
            let four = FIRST + i * FOUR..FIRST + (i + 1) * FOUR;
            let (acc, scales) = (&mut acc[four.clone()], &scales[four]);
            // SAFETY: four numbers are read from and written to slices of four.
            unsafe {
                let scales = vmulq_n_f32(vld1q_f32(scales.as_ptr()), *x_scale);
                let (sums, before) = (vcvtq_f32_s32(*sums), vld1q_f32(acc.as_ptr()));
                let after = if FUSED {
                    vfmaq_f32(before, scales, sums)
                } else {
                    vaddq_f32(vmulq_f32(scales, sums), before)
                };
                vst1q_f32(acc.as_mut_ptr(), after);
            }
        }
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn add_bytes<const SDOT: bool, const FIRST: usize, const PARTS: usize>(
    weights: &[[i8; LANES]; GROUP],
    scales: &[[f32; LANES]; PARTS],
    x: &[RoundedGroup],
    acc: &mut [[f32; LANES]],
) {
    let (halves, _) = weights.as_chunks();
    let quads = [
        turn_half::<FIRST>(&halves[0]),
        turn_half::<FIRST>(&halves[1]),
    ];
    let ((x, last), (acc, last_acc)) = (x.as_chunks::<ROWS>(), acc.as_chunks_mut::<ROWS>());
    for (x, acc) in x.iter().zip(acc) {
        add_rows::<SDOT, FIRST, ROWS, PARTS>(&quads, scales, &Rows::for_bytes(x), acc);
    }
    for (x, acc) in last.as_chunks().0.iter().zip(last_acc.as_chunks_mut().0) {
        add_rows::<SDOT, FIRST, 1, PARTS>(&quads, scales, &Rows::for_bytes(x), acc);
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn add_bytes_of_row<const SDOT: bool, const FIRST: usize, const PARTS: usize>(
    weights: &[[i8; LANES]; GROUP],
    scales: &[[f32; LANES]; PARTS],
    x: &RoundedGroup,
    acc: &mut [f32; LANES],
) {
    let (halves, _) = weights.as_chunks();
    let quads = [
        turn_half::<FIRST>(&halves[0]),
        turn_half::<FIRST>(&halves[1]),
    ];
    let (x, acc) = (Rows::for_bytes(array::from_ref(x)), array::from_mut(acc));
    add_rows::<SDOT, FIRST, 1, PARTS>(&quads, scales, &x, acc);
}

#[target_feature(enable = "neon")]
#[inline]
fn add_nibbles<const SDOT: bool, const FIRST: usize, const OFFSET: i32>(
    weights: &[[u32; LANES]; GROUP / NIBBLES],
    scales: &[f32; LANES],
    x: &[RoundedGroup],
    acc: &mut [[f32; LANES]],
) {
    let ((halves, _), scales) = (weights.as_chunks(), array::from_ref(scales));
    let quads = [
        split_half::<FIRST>(&halves[0]),
        split_half::<FIRST>(&halves[1]),
    ];
    let ((x, last), (acc, last_acc)) = (x.as_chunks::<ROWS>(), acc.as_chunks_mut::<ROWS>());
    for (x, acc) in x.iter().zip(acc) {
        add_rows::<SDOT, FIRST, ROWS, 1>(&quads, scales, &Rows::for_nibbles::<OFFSET>(x), acc);
    }
    for (x, acc) in last.as_chunks().0.iter().zip(last_acc.as_chunks_mut().0) {
        add_rows::<SDOT, FIRST, 1, 1>(&quads, scales, &Rows::for_nibbles::<OFFSET>(x), acc);
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn add_nibbles_of_row<const SDOT: bool, const FIRST: usize, const OFFSET: i32>(
    weights: &[[u32; LANES]; GROUP / NIBBLES],
    scales: &[f32; LANES],
    x: &RoundedGroup,
    acc: &mut [f32; LANES],
) {
    let ((halves, _), scales) = (weights.as_chunks(), array::from_ref(scales));
    let quads = [
        split_half::<FIRST>(&halves[0]),
        split_half::<FIRST>(&halves[1]),
    ];
    let (x, acc) = (Rows::for_nibbles::<OFFSET>(array::from_ref(x)), array::from_mut(acc));
    add_rows::<SDOT, FIRST, 1, 1>(&quads, scales, &x, acc);
}
