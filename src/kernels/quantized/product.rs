//! Products of quantized panels with rows of `x`.

use super::{GROUP, LANES, PackedGroups};
use crate::kernels::microkernel::{prefetch, product};
use crate::kernels::simd::{Isa, fma};

/// How many groups ahead those of a panel are prefetched: about 2 to 4 KiB. The processor's own
/// prefetching stops at the end of each 4 KiB, and a group is multiplied sooner than it starts again.
/// Of int8, 1 to 4 made little difference, and 6 to 16 were slower.
const AHEAD: usize = 3;

// ANCHOR: single
/// The products of `P` quantized panels with one row `x`, in groups, of which `x_sums` are the sums
/// (GEMV). Integers are converted in registers.
#[inline(always)]
pub fn single<I: Isa, G: PackedGroups, const P: usize>(
    panels: [&[G]; P],
    x: &[[f32; GROUP]],
    x_sums: &[f32],
) -> [[f32; LANES]; P] {
    let mut acc = [[0.0; LANES]; P];
    // Slices of one length, so that there is no bounds check in the loop.
    let (panels, x_sums) = (panels.map(|panel| &panel[..x.len()]), &x_sums[..x.len()]);
    for g in 0..x.len() {
        for panel in panels {
            prefetch(std::ptr::from_ref(&panel[g]).wrapping_add(AHEAD));
        }
        for (part, x) in x[g].chunks_exact(GROUP / G::PARTS).enumerate() {
            let mut sums = [[0.0; LANES]; P];
            for (k, x) in x.iter().enumerate() {
                for p in 0..P {
                    let integers = panels[p][g].integers(part * GROUP / G::PARTS + k);
                    for lane in 0..LANES {
                        sums[p][lane] = fma(integers[lane], *x, sums[p][lane]);
                    }
                }
            }
            for p in 0..P {
                let scales = panels[p][g].scales::<I>(part);
                add_group(&mut acc[p], &sums[p], &scales, G::OFFSET, x_sums[g]);
            }
        }
        for p in 0..P {
            subtract_mins(&mut acc[p], panels[p][g].mins(), x_sums[g]);
        }
    }
    acc
}
// ANCHOR_END: single

// ANCHOR: add_group
/// Adds a group, or a part of it, to `acc`: its sums of `integer * x`, times the scales. `offset` was
/// added to each integer, so the sums hold `offset` times the sum of `x` too much.
#[inline(always)]
fn add_group(
    acc: &mut [f32; LANES],
    sums: &[f32; LANES],
    scales: &[f32; LANES],
    offset: f32,
    x_sum: f32,
) {
    let mut sums = *sums;
    if offset != 0.0 {
        for sum in &mut sums {
            *sum = fma(-offset, x_sum, *sum);
        }
    }
    for lane in 0..LANES {
        acc[lane] = fma(scales[lane], sums[lane], acc[lane]);
    }
}
// ANCHOR_END: add_group

/// Subtracts a group's minima, which count once for each `x`.
#[inline(always)]
pub(super) fn subtract_mins(acc: &mut [f32; LANES], mins: Option<&[f32; LANES]>, x_sum: f32) {
    if let Some(mins) = mins {
        for (acc, min) in acc.iter_mut().zip(mins) {
            *acc = fma(-min, x_sum, *acc);
        }
    }
}

/// As [`single`], for `M` rows of `x`, packed as `[k][rows]`, of whose groups `x_sums`,
/// `[groups][rows]`, are the sums: with so few rows, it takes longer to write converted integers to
/// memory and read them again than to multiply them.
#[inline(always)]
pub fn in_registers<I: Isa, G: PackedGroups, const M: usize, const P: usize>(
    panels: [&[G]; P],
    x: &[[f32; M]],
    x_sums: &[[f32; M]],
) -> [[[f32; LANES]; M]; P] {
    let mut acc = [[[0.0; LANES]; M]; P];
    let (x, _) = x.as_chunks::<GROUP>();
    let (panels, x_sums) = (panels.map(|panel| &panel[..x.len()]), &x_sums[..x.len()]);
    for g in 0..x.len() {
        for panel in panels {
            prefetch(std::ptr::from_ref(&panel[g]).wrapping_add(AHEAD));
        }
        for (part, x) in x[g].chunks_exact(GROUP / G::PARTS).enumerate() {
            let mut sums = [[[0.0; LANES]; M]; P];
            for (k, x) in x.iter().enumerate() {
                for p in 0..P {
                    let integers = panels[p][g].integers(part * GROUP / G::PARTS + k);
                    for row in 0..M {
                        for lane in 0..LANES {
                            sums[p][row][lane] = fma(integers[lane], x[row], sums[p][row][lane]);
                        }
                    }
                }
            }
            for p in 0..P {
                let scales = panels[p][g].scales::<I>(part);
                for row in 0..M {
                    add_group(&mut acc[p][row], &sums[p][row], &scales, G::OFFSET, x_sums[g][row]);
                }
            }
        }
        for p in 0..P {
            for row in 0..M {
                subtract_mins(&mut acc[p][row], panels[p][g].mins(), x_sums[g][row]);
            }
        }
    }
    acc
}

/// Groups whose integers were converted to f32 once, for many rows.
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
        groups.unpack(&mut integers);
        Self {
            offset: G::OFFSET,
            scales: [groups.scales::<I>(0), groups.scales::<I>(G::PARTS - 1)],
            parts: G::PARTS,
            mins: groups.mins().copied(),
            integers,
        }
    }
}

/// The products of an unpacked panel with `M` rows of `x`, packed as `[k][rows]`, of whose groups
/// `x_sums`, `[groups][rows]`, are the sums.
#[inline(always)]
pub fn rows<I: Isa, const M: usize>(
    panel: &[Unpacked],
    x: &[[f32; M]],
    x_sums: &[[f32; M]],
) -> [[f32; LANES]; M] {
    let mut acc = [[0.0; LANES]; M];
    let (x, _) = x.as_chunks::<GROUP>();
    for ((group, x), x_sums) in panel.iter().zip(x).zip(x_sums) {
        add_unpacked::<I, M>(&mut acc, group, x, x_sums);
    }
    acc
}

#[inline(always)]
fn add_unpacked<I: Isa, const M: usize>(
    acc: &mut [[f32; LANES]; M],
    group: &Unpacked,
    x: &[[f32; M]; GROUP],
    x_sums: &[f32; M],
) {
    let width = GROUP / group.parts;
    let parts = group.integers.chunks_exact(width).zip(x.chunks_exact(width));
    for ((integers, x), scales) in parts.zip(&group.scales) {
        let sums = product::<I, M>(integers, x);
        for row in 0..M {
            add_group(&mut acc[row], &sums[row], scales, group.offset, x_sums[row]);
        }
    }
    for (acc, x_sum) in acc.iter_mut().zip(x_sums) {
        subtract_mins(acc, group.mins.as_ref(), *x_sum);
    }
}

/// As [`rows`], for a panel that is unpacked group by group: each is still in the L1 cache when it
/// is multiplied, where a whole unpacked panel would not fit.
#[inline(always)]
pub fn few_rows<I: Isa, G: PackedGroups, const M: usize>(
    panel: &[G],
    x: &[[f32; M]],
    x_sums: &[[f32; M]],
) -> [[f32; LANES]; M] {
    let mut acc = [[0.0; LANES]; M];
    let (x, _) = x.as_chunks::<GROUP>();
    for ((group, x), x_sums) in panel.iter().zip(x).zip(x_sums) {
        prefetch(std::ptr::from_ref(group).wrapping_add(AHEAD));
        add_unpacked::<I, M>(&mut acc, &Unpacked::new::<I, G>(group), x, x_sums);
    }
    acc
}
