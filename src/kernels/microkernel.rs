//! The inner loop of all products: linear layers, attention scores, and attention's weighted sums
//! of values.
//!
//! Each output is one sum over `k`, from 0 upwards, by fused multiply-add, in a lane of its own.
//! Lanes run across outputs, never along `k`, so a sum is independent of the other rows, lanes and
//! threads: its bits are always the same.

use std::hint::black_box;

use bytemuck::{Pod, cast_mut, cast_ref};

use super::number::Number;
use super::simd::{Isa, WIDTH};

/// Outputs of a panel.
pub const LANES: usize = 32;

/// The vectors of a panel's outputs.
pub(super) const VECTORS: usize = LANES / WIDTH;

// ANCHOR: accumulate
/// Adds to `acc` the products of `P` panels with `M` rows of `x`.
///
/// A panel is `[k][outputs]`, of which `V` vectors are taken, from the `first` on; `x` is packed as
/// `[k][rows]`, so that the numbers for one `k` are contiguous. `AHEAD` is how far ahead weights are
/// prefetched, in `k`; 0 leaves that to the processor.
#[inline(always)]
pub(super) fn accumulate<
    I: Isa,
    N: Number,
    const M: usize,
    const P: usize,
    const V: usize,
    const AHEAD: usize,
>(
    acc: &mut [[[I::Vector; V]; M]; P],
    panels: [&[[N; LANES]]; P],
    first: usize,
    x: &[[f32; M]],
) {
    for k in 0..x.len() {
        for p in 0..P {
            let mut weights = [I::splat(0.0); V];
            for v in 0..V {
                let numbers = &vectors(&panels[p][k])[first + v];
                if AHEAD > 0 {
                    prefetch(std::ptr::from_ref(numbers).wrapping_add(AHEAD * VECTORS));
                }
                weights[v] = N::widen::<I>(numbers);
            }
            multiply_add::<I, M, V>(&mut acc[p], weights, &x[k]);
        }
    }
}

/// Multiplies the weights of one `k` with `M` rows.
#[inline(always)]
pub(super) fn multiply_add<I: Isa, const M: usize, const V: usize>(
    acc: &mut [[I::Vector; V]; M],
    weights: [I::Vector; V],
    x: &[f32; M],
) {
    for row in 0..M {
        let x = I::splat(x[row]);
        for v in 0..V {
            acc[row][v] = I::fma(weights[v], x, acc[row][v]);
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
    let [sums] = in_parts::<I, f32, M, 1, 0>([panel], x);
    sums
}

/// The products of `P` panels with `M` rows of `x`. Reading several panels at once keeps more memory
/// channels busy.
///
/// The processor's own prefetching stops at the end of each 4 KiB. Where one panel is read after the
/// other, by several rows, the next weights are wanted sooner than it starts again.
#[inline(always)]
pub(super) fn products<I: Isa, N: Number, const M: usize, const P: usize>(
    panels: [&[[N; LANES]]; P],
    x: &[[f32; M]],
) -> [[[f32; LANES]; M]; P] {
    /// 8 KiB of f32. Between 4 and 16 KiB made no difference.
    const AHEAD: usize = 64;
    // Slices of the length of `x`: with a bounds check in the loop, the compiler stores all sums to
    // memory at each `k`.
    let mut panels = panels;
    for panel in &mut panels {
        *panel = &panel[..x.len()];
    }
    if const { P == 1 && M > 1 } {
        in_parts::<I, N, M, P, AHEAD>(panels, x)
    } else {
        in_parts::<I, N, M, P, 0>(panels, x)
    }
}

/// The sums of all 32 outputs at once, where they fit into the registers. Otherwise those of one half
/// after the other, for so many `k` that the weights are still in the L1 cache for the second half.
#[inline(always)]
fn in_parts<I: Isa, N: Number, const M: usize, const P: usize, const AHEAD: usize>(
    panels: [&[[N; LANES]]; P],
    x: &[[f32; M]],
) -> [[[f32; LANES]; M]; P] {
    /// 16 KiB of f32.
    const PART: usize = 128;
    let mut sums = [[[0.0; LANES]; M]; P];
    if const { VECTORS * M * P <= I::SUMS } {
        let mut acc = [[[I::splat(0.0); VECTORS]; M]; P];
        accumulate::<I, N, M, P, VECTORS, AHEAD>(&mut acc, panels, 0, x);
        store::<I, M, P, VECTORS>(&acc, 0, &mut sums);
        return sums;
    }
    // In memory from part to part: the compiler would keep all of them in registers, more than there are.
    let sums_in_memory = black_box(&mut sums);
    for (part, x) in x.chunks(PART).enumerate() {
        let mut panels = panels;
        for panel in &mut panels {
            *panel = &panel[part * PART..][..x.len()];
        }
        for vector in 0..VECTORS {
            let mut acc = load::<I, M, P>(sums_in_memory, vector);
            accumulate::<I, N, M, P, 1, AHEAD>(&mut acc, panels, vector, x);
            store::<I, M, P, 1>(&acc, vector, sums_in_memory);
        }
    }
    sums
}

/// For how many panels, multiplied with `M` rows, there is room for sums in the registers.
pub(super) const fn panels_at_once<I: Isa, const M: usize>() -> usize {
    I::SUMS / (VECTORS * M)
}

/// As [`accumulate`], for one vector of outputs, and `x` stored as `[rows][S]`, from `k = start` on.
#[inline(always)]
pub(super) fn accumulate_rows<I: Isa, const M: usize, const S: usize>(
    sums: &mut [[f32; WIDTH]; M],
    panel: &[[f32; WIDTH]],
    x: &[[f32; S]; M],
    start: usize,
) {
    assert!(start + panel.len() <= S);
    let mut acc = [I::splat(0.0); M];
    for row in 0..M {
        acc[row] = I::load(&sums[row]);
    }
    for (k, weights) in (start..).zip(panel) {
        let weights = I::load(weights);
        for row in 0..M {
            // Always `k`: with a bounds check in the loop, the compiler stores all of `acc` to
            // memory at each `k`.
            acc[row] = I::fma(weights, I::splat(x[row][k % S]), acc[row]);
        }
    }
    for row in 0..M {
        I::store(acc[row], &mut sums[row]);
    }
}

/// The vectors of 32 outputs.
#[inline(always)]
pub(super) fn vectors<T: Pod>(lanes: &[T; LANES]) -> &[[T; WIDTH]; VECTORS] {
    cast_ref(lanes)
}

/// Reads the sums of one vector of outputs.
#[inline(always)]
fn load<I: Isa, const M: usize, const P: usize>(
    sums: &[[[f32; LANES]; M]; P],
    vector: usize,
) -> [[[I::Vector; 1]; M]; P] {
    let mut acc = [[[I::splat(0.0)]; M]; P];
    for p in 0..P {
        for row in 0..M {
            acc[p][row][0] = I::load(&vectors(&sums[p][row])[vector]);
        }
    }
    acc
}

/// Writes the sums of `V` vectors of outputs, from the `first` on.
#[inline(always)]
fn store<I: Isa, const M: usize, const P: usize, const V: usize>(
    acc: &[[[I::Vector; V]; M]; P],
    first: usize,
    sums: &mut [[[f32; LANES]; M]; P],
) {
    for p in 0..P {
        for row in 0..M {
            let sums: &mut [[f32; WIDTH]; VECTORS] = cast_mut(&mut sums[p][row]);
            for v in 0..V {
                I::store(acc[p][row][v], &mut sums[first + v]);
            }
        }
    }
}

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
