//! Products of quantized panels with rows of `x`.

use std::hint::black_box;

use bytemuck::cast_mut;

use super::{GROUP, LANES, PackedGroups, PackedIntegers};
use crate::kernels::microkernel::{VECTORS, accumulate, prefetch, vectors};
use crate::kernels::simd::{Isa, WIDTH, fma};

/// The products of `P` quantized panels with `M` rows of `x`, packed as `[k][rows]`, of whose groups
/// `x_sums`, `[groups][rows]`, are the sums.
#[inline(always)]
pub fn products<I: Isa, G: PackedGroups, const M: usize, const P: usize>(
    panels: [&[G]; P],
    x: &[[f32; M]],
    x_sums: &[[f32; M]],
) -> [[[f32; LANES]; M]; P] {
    /// How many groups ahead those of a panel are prefetched: about 2 to 4 KiB. The processor's own
    /// prefetching stops at the end of each 4 KiB, and a group is multiplied sooner than it starts
    /// again. Of int8, 1 to 4 made little difference, and 6 to 16 were slower.
    const AHEAD: usize = 3;
    let mut sums = [[[0.0; LANES]; M]; P];
    // In memory from group to group: the compiler would keep these in registers too, which the sums of
    // the group need.
    let acc = black_box(&mut sums);
    let (x, _) = x.as_chunks::<GROUP>();
    // Slices of one length, so that there is no bounds check in the loop.
    let (mut panels, x_sums) = (panels, &x_sums[..x.len()]);
    for panel in &mut panels {
        *panel = &panel[..x.len()];
    }
    for g in 0..x.len() {
        let mut groups = [&panels[0][g]; P];
        for p in 0..P {
            groups[p] = &panels[p][g];
            prefetch(std::ptr::from_ref(groups[p]).wrapping_add(AHEAD));
        }
        // The sums of all 32 outputs at once, where they fit into the registers.
        if const { VECTORS * M * P <= I::SUMS } {
            add_groups::<I, G, M, P, VECTORS>(acc, groups, 0, &x[g], &x_sums[g]);
        } else {
            for vector in 0..VECTORS {
                add_groups::<I, G, M, P, 1>(acc, groups, vector, &x[g], &x_sums[g]);
            }
        }
        for p in 0..P {
            for row in 0..M {
                subtract_mins(&mut acc[p][row], groups[p].mins(), x_sums[g][row]);
            }
        }
    }
    sums
}

/// Adds a group of each panel to `acc`, for `V` vectors of outputs, from the `first` on.
#[inline(always)]
fn add_groups<I: Isa, G: PackedGroups, const M: usize, const P: usize, const V: usize>(
    acc: &mut [[[f32; LANES]; M]; P],
    groups: [&G; P],
    first: usize,
    x: &[[f32; M]; GROUP],
    x_sums: &[f32; M],
) {
    for part in 0..G::PARTS {
        let mut sums = [[[I::splat(0.0); V]; M]; P];
        G::multiply::<I, M, P, V>(groups, first, part, x, &mut sums);
        for p in 0..P {
            let scales = groups[p].scales::<I>(part);
            add_scaled::<I, M, V>(&mut acc[p], &sums[p], first, &scales, G::OFFSET, x_sums);
        }
    }
}

// ANCHOR: add_scaled
/// Adds a group, or a part of it, to `acc`: its sums of `integer * x`, times the scales. `offset` was
/// added to each integer, so the sums hold `offset` times the sum of `x` too much.
#[inline(always)]
fn add_scaled<I: Isa, const M: usize, const V: usize>(
    acc: &mut [[f32; LANES]; M],
    sums: &[[I::Vector; V]; M],
    first: usize,
    scales: &[f32; LANES],
    offset: f32,
    x_sums: &[f32; M],
) {
    for row in 0..M {
        let acc: &mut [[f32; WIDTH]; VECTORS] = cast_mut(&mut acc[row]);
        for v in 0..V {
            let mut sums = sums[row][v];
            if offset != 0.0 {
                sums = I::fma(I::splat(-offset), I::splat(x_sums[row]), sums);
            }
            let (scales, acc) = (I::load(&vectors(scales)[first + v]), &mut acc[first + v]);
            I::store(I::fma(scales, sums, I::load(acc)), acc);
        }
    }
}
// ANCHOR_END: add_scaled

/// Subtracts a group's minima, which count once for each `x`.
#[inline(always)]
pub(super) fn subtract_mins(acc: &mut [f32; LANES], mins: Option<&[f32; LANES]>, x_sum: f32) {
    if let Some(mins) = mins {
        for (acc, min) in acc.iter_mut().zip(mins) {
            *acc = fma(-min, x_sum, *acc);
        }
    }
}

/// A group whose integers were converted to f32 once, for many rows.
pub struct Unpacked {
    offset: f32,
    /// One for each part of the group.
    scales: [[f32; LANES]; 2],
    parts: usize,
    mins: Option<[f32; LANES]>,
    integers: [[f32; LANES]; GROUP],
}

impl Unpacked {
    #[inline(always)]
    pub fn new<I: Isa, G: PackedGroups>(groups: &G) -> Self {
        let mut integers = [[0.0; LANES]; GROUP];
        groups.integers().unpack::<I>(&mut integers);
        Self {
            offset: G::OFFSET,
            scales: [groups.scales::<I>(0), groups.scales::<I>(G::PARTS - 1)],
            parts: G::PARTS,
            mins: groups.mins().copied(),
            integers,
        }
    }

    /// Adds the group to `acc`, for `V` vectors of outputs, from the `first` on.
    #[inline(always)]
    fn add_to<I: Isa, const M: usize, const V: usize>(
        &self,
        acc: &mut [[f32; LANES]; M],
        first: usize,
        x: &[[f32; M]; GROUP],
        x_sums: &[f32; M],
    ) {
        let width = GROUP / self.parts;
        let parts = self.integers.chunks_exact(width).zip(x.chunks_exact(width));
        for ((integers, x), scales) in parts.zip(&self.scales) {
            let mut sums = [[[I::splat(0.0); V]; M]];
            accumulate::<I, f32, M, 1, V, 0>(&mut sums, [integers], first, x);
            add_scaled::<I, M, V>(acc, &sums[0], first, scales, self.offset, x_sums);
        }
    }
}

/// As [`products`], for one unpacked panel.
#[inline(always)]
pub fn unpacked<I: Isa, const M: usize>(
    panel: &[Unpacked],
    x: &[[f32; M]],
    x_sums: &[[f32; M]],
) -> [[f32; LANES]; M] {
    let mut sums = [[0.0; LANES]; M];
    // As in `products`.
    let acc = black_box(&mut sums);
    let (x, _) = x.as_chunks::<GROUP>();
    for ((group, x), x_sums) in panel.iter().zip(x).zip(x_sums) {
        if const { VECTORS * M <= I::SUMS } {
            group.add_to::<I, M, VECTORS>(acc, 0, x, x_sums);
        } else {
            for vector in 0..VECTORS {
                group.add_to::<I, M, 1>(acc, vector, x, x_sums);
            }
        }
        for (acc, x_sum) in acc.iter_mut().zip(x_sums) {
            subtract_mins(acc, group.mins.as_ref(), *x_sum);
        }
    }
    sums
}
