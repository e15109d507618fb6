//! Products of quantized panels with rows of `x`.

use std::array;
use std::marker::PhantomData;

use super::{GROUP, LANES, PackedGroups};
use crate::kernels::simd::{Isa, fma};

/// What the product reads of the groups of 32 outputs.
pub trait Groups {
    /// Added to each integer.
    const OFFSET: f32;

    fn integers<const O: usize, const L: usize>(&self, k: usize) -> [f32; L];

    fn scales<I: Isa>(&self) -> [f32; LANES];
}

impl<G: PackedGroups> Groups for G {
    const OFFSET: f32 = G::OFFSET;

    #[inline(always)]
    fn integers<const O: usize, const L: usize>(&self, k: usize) -> [f32; L] {
        PackedGroups::integers::<O, L>(self, k)
    }

    #[inline(always)]
    fn scales<I: Isa>(&self) -> [f32; LANES] {
        I::widen_f16(PackedGroups::scales(self))
    }
}

/// Groups that were unpacked once, for many rows.
pub struct Unpacked<G> {
    scales: [f32; LANES],
    integers: [[f32; LANES]; GROUP],
    format: PhantomData<G>,
}

impl<G: PackedGroups> Unpacked<G> {
    #[inline(always)]
    pub fn new<I: Isa>(groups: &G) -> Self {
        Self {
            scales: Groups::scales::<I>(groups),
            integers: array::from_fn(|k| groups.integers::<0, LANES>(k)),
            format: PhantomData,
        }
    }
}

impl<G: PackedGroups> Groups for Unpacked<G> {
    const OFFSET: f32 = G::OFFSET;

    #[inline(always)]
    fn integers<const O: usize, const L: usize>(&self, k: usize) -> [f32; L] {
        array::from_fn(|lane| self.integers[k][O + lane])
    }

    #[inline(always)]
    fn scales<I: Isa>(&self) -> [f32; LANES] {
        self.scales
    }
}

/// The products of `P` panels with `M` rows of `x`, packed as `[k][rows]`, with as many `k` as the
/// groups have. `sums` are those of each group of `x`, `[groups][rows]`.
#[inline(always)]
pub fn products<I: Isa, G: Groups, const M: usize, const P: usize>(
    panels: [&[G]; P],
    x: &[[f32; M]],
    sums: &[[f32; M]],
) -> [[[f32; LANES]; M]; P] {
    let mut products = [[[0.0; LANES]; M]; P];
    if I::HALVES && M > 3 {
        let left = part::<I, G, 0, 16, M, P>(panels, x, sums);
        let right = part::<I, G, 16, 16, M, P>(panels, x, sums);
        for panel in 0..P {
            for row in 0..M {
                products[panel][row][..16].copy_from_slice(&left[panel][row]);
                products[panel][row][16..].copy_from_slice(&right[panel][row]);
            }
        }
    } else {
        products = part::<I, G, 0, LANES, M, P>(panels, x, sums);
    }
    products
}

// ANCHOR: part
/// The outputs from `O` to `O + L` of [`products`].
#[inline(always)]
fn part<I: Isa, G: Groups, const O: usize, const L: usize, const M: usize, const P: usize>(
    panels: [&[G]; P],
    x: &[[f32; M]],
    sums: &[[f32; M]],
) -> [[[f32; L]; M]; P] {
    let (x, _) = x.as_chunks::<GROUP>();
    // Slices of one length, so that there is no bounds check in the loop.
    let (panels, sums) = (panels.map(|panel| &panel[..x.len()]), &sums[..x.len()]);
    let mut acc = [[[0.0; L]; M]; P];
    for g in 0..x.len() {
        let mut group = [[[0.0; L]; M]; P];
        for k in 0..GROUP {
            for p in 0..P {
                let integers = panels[p][g].integers::<O, L>(k);
                for row in 0..M {
                    for lane in 0..L {
                        group[p][row][lane] =
                            fma(integers[lane], x[g][k][row], group[p][row][lane]);
                    }
                }
            }
        }
        for p in 0..P {
            let scales = panels[p][g].scales::<I>();
            for row in 0..M {
                for lane in 0..L {
                    // What was added to each integer was added to the sum as often as there is x.
                    let sum = if G::OFFSET == 0.0 {
                        group[p][row][lane]
                    } else {
                        fma(-G::OFFSET, sums[g][row], group[p][row][lane])
                    };
                    acc[p][row][lane] = fma(scales[O + lane], sum, acc[p][row][lane]);
                }
            }
        }
    }
    acc
}
// ANCHOR_END: part
