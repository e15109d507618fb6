//! The inner loop of all products: linear layers, attention scores, and attention's weighted sums
//! of values.
//!
//! Each output is one sum over `k`, from 0 upwards, by fused multiply-add, in a lane of its own.
//! Lanes run across outputs, never along `k`, so a sum is independent of the other rows, lanes and
//! threads: its bits are always the same.

use super::number::Number;
use super::simd::{Isa, fma};

/// Outputs of a panel.
pub const LANES: usize = 32;

// ANCHOR: accumulate
/// Adds to `acc`, `[rows][lanes]`, the product of a part of a panel with `M` rows of `x`.
///
/// `panel` is `[k][outputs]`, of which the outputs from `O` to `O + L` are taken; `x` is packed as
/// `[k][rows]`, so that the numbers for one `k` are contiguous. `AHEAD` is how far ahead weights are
/// prefetched, in `k`; 0 leaves that to the processor.
#[inline(always)]
fn accumulate<const O: usize, const L: usize, const M: usize, const AHEAD: usize>(
    acc: &mut [[f32; L]; M],
    panel: &[[f32; LANES]],
    x: &[[f32; M]],
) {
    for (weights, x) in panel.iter().zip(x) {
        if AHEAD > 0 {
            prefetch(std::ptr::from_ref(weights).wrapping_add(AHEAD));
        }
        let weights = part::<O, L>(weights);
        for row in 0..M {
            for lane in 0..L {
                acc[row][lane] = fma(weights[lane], x[row], acc[row][lane]);
            }
        }
    }
}
// ANCHOR_END: accumulate

/// The product of one panel, `[k][32]`, with `M` rows of `x`, packed as `[k][rows]`.
#[inline(always)]
pub(super) fn product<I: Isa, const M: usize>(
    panel: &[[f32; LANES]],
    x: &[[f32; M]],
) -> [[f32; LANES]; M] {
    product_ahead::<I, M, 0>(panel, x)
}

/// As [`product`], for panels that are read from memory one after the other.
///
/// The processor's own prefetching stops at the end of each 4 KiB. With the few rows of a batch,
/// the next weights are wanted sooner than it starts again.
#[inline(always)]
pub(super) fn product_streamed<I: Isa, const M: usize>(
    panel: &[[f32; LANES]],
    x: &[[f32; M]],
) -> [[f32; LANES]; M] {
    /// 8 KiB ahead. Between 4 and 16 KiB made no difference.
    const AHEAD: usize = 64;
    product_ahead::<I, M, AHEAD>(panel, x)
}

#[inline(always)]
fn product_ahead<I: Isa, const M: usize, const AHEAD: usize>(
    panel: &[[f32; LANES]],
    x: &[[f32; M]],
) -> [[f32; LANES]; M] {
    let mut sums = [[0.0; LANES]; M];
    if I::HALVES && M > 3 {
        let (mut left, mut right) = ([[0.0; 16]; M], [[0.0; 16]; M]);
        accumulate::<0, 16, M, AHEAD>(&mut left, panel, x);
        accumulate::<16, 16, M, AHEAD>(&mut right, panel, x);
        for row in 0..M {
            sums[row][..16].copy_from_slice(&left[row]);
            sums[row][16..].copy_from_slice(&right[row]);
        }
    } else {
        // An array of its own, copied in parts: the compiler keeps it in registers, where it would
        // store all of `sums` to memory at each `k`.
        let mut acc = [[0.0; LANES]; M];
        accumulate::<0, LANES, M, AHEAD>(&mut acc, panel, x);
        for row in 0..M {
            sums[row][..16].copy_from_slice(&acc[row][..16]);
            sums[row][16..].copy_from_slice(&acc[row][16..]);
        }
    }
    sums
}

/// The products of two panels with `M` rows. With few rows the product is memory-bound, and reading
/// two panels at once keeps more memory channels busy.
#[inline(always)]
pub(super) fn product_of_two<const M: usize>(
    panels: [&[[f32; LANES]]; 2],
    x: &[[f32; M]],
) -> [[[f32; LANES]; M]; 2] {
    // One slice for each panel, of the length of `x`: with a bounds check in the loop, the compiler
    // stores all of `acc` to memory at each `k`.
    let (first, second) = (&panels[0][..x.len()], &panels[1][..x.len()]);
    let mut acc = [[[0.0; LANES]; M]; 2];
    for k in 0..x.len() {
        let weights = [&first[k], &second[k]];
        for p in 0..2 {
            for row in 0..M {
                for lane in 0..LANES {
                    acc[p][row][lane] = fma(weights[p][lane], x[k][row], acc[p][row][lane]);
                }
            }
        }
    }
    acc
}

/// As [`accumulate`], for `x` stored as `[rows][S]`, from `k = start` on.
#[inline(always)]
pub(super) fn accumulate_rows<const L: usize, const M: usize, const S: usize>(
    acc: &mut [[f32; L]; M],
    panel: &[[f32; L]],
    x: &[[f32; S]; M],
    start: usize,
) {
    assert!(start + panel.len() <= S);
    for (k, weights) in (start..).zip(panel) {
        for row in 0..M {
            for lane in 0..L {
                // Always `k`: with a bounds check in the loop, the compiler stores all of `acc` to
                // memory at each `k`.
                acc[row][lane] = fma(weights[lane], x[row][k % S], acc[row][lane]);
            }
        }
    }
}

// ANCHOR: single
/// The products of `P` panels with one row `x`, `[k]` (GEMV). Reading several panels at once keeps
/// more memory channels busy.
#[inline(always)]
pub(super) fn single<I: Isa, N: Number, const P: usize>(
    panels: [&[[N; LANES]]; P],
    x: &[f32],
) -> [[f32; LANES]; P] {
    let mut acc = [[0.0; LANES]; P];
    let panels = panels.map(|panel| &panel[..x.len()]);
    for k in 0..x.len() {
        for p in 0..P {
            let weights = N::widen::<I, LANES>(&panels[p][k]);
            for lane in 0..LANES {
                acc[p][lane] = fma(weights[lane], x[k], acc[p][lane]);
            }
        }
    }
    // As in `product_ahead`: the compiler would store `acc` to memory at each `k`.
    let mut sums = [[0.0; LANES]; P];
    for p in 0..P {
        sums[p][..16].copy_from_slice(&acc[p][..16]);
        sums[p][16..].copy_from_slice(&acc[p][16..]);
    }
    sums
}
// ANCHOR_END: single

/// Asks for the weights at an address, which may lie behind the last panel.
#[inline(always)]
pub(super) fn prefetch<T>(weights: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        /// The bytes of a cache line.
        const LINE: usize = 64;
        for line in (0..size_of::<T>()).step_by(LINE) {
            // SAFETY: a prefetch of an address that cannot be read does nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(weights.cast::<i8>().wrapping_add(line)) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = weights;
}

#[inline(always)]
fn part<const O: usize, const L: usize>(lanes: &[f32; LANES]) -> &[f32; L] {
    const { assert!(O + L <= LANES) };
    match lanes[O..].first_chunk::<L>() {
        Some(part) => part,
        None => unreachable!("the part lies inside, as was checked when this was compiled"),
    }
}
