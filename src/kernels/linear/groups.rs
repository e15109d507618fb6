//! Products of quantized panels.

use std::array;
use std::marker::PhantomData;
use std::ops::Range;

use super::packed::PackedPass;
use super::{Product, SingleRow, Sums};
use crate::kernels::microkernel::LANES;
use crate::kernels::quantized::{self, Activations, PackedGroups, ROWS, Unpacked};
use crate::kernels::simd::{Isa, Kernel, RowKernel, Simd};

impl Product<'_> {
    /// Panels of the format `G`.
    pub(super) fn quantized<G: PackedGroups>(&self, panels: Range<usize>, simd: Simd) {
        match self.layer.weights.activations() {
            Activations::F32 => self.groups::<G>(panels, simd),
            Activations::Int8 => {
                simd.dispatch_integers(Rounded { product: self, panels, groups: PhantomData::<G> });
            }
        }
    }

    /// For a single row and for very few, integers are converted in registers; for a few passes of
    /// rows, each pass unpacks a panel group by group; for more, each panel is unpacked once, for all
    /// of them.
    fn groups<G: PackedGroups>(&self, panels: Range<usize>, simd: Simd) {
        /// So many panels are read by all passes before the next ones.
        const SOME: usize = 4;
        let weights = self.layer.weights;
        if self.x.rows == 1 {
            simd.dispatch(SingleRow { product: self, panels, sums: PhantomData::<InGroups<G>> });
            return;
        }
        let most = if simd.has_halves() { 3 } else { 6 };
        let passes = &self.x.passes;
        let in_registers = passes.len() <= 2 && passes.iter().all(|rows| rows.len() <= most);
        if in_registers || passes.len() <= G::FEW_PASSES {
            for first in panels.clone().step_by(SOME) {
                let panels = first..panels.end.min(first + SOME);
                for rows in passes {
                    let (pass, groups) = (self.x.pass(rows), PhantomData::<G>);
                    let panels = panels.clone();
                    simd.dispatch_rows(
                        pass.rows,
                        PassOfFew { product: self, panels, pass, groups },
                    );
                }
            }
            return;
        }
        let mut room = Vec::new();
        for index in panels {
            simd.dispatch(Unpack { panel: weights.groups::<G>(index), room: &mut room });
            for rows in &self.x.passes {
                let (panel, pass) = (&room[..], self.x.pass(rows));
                simd.dispatch_rows(pass.rows, PassInGroups { product: self, index, panel, pass });
            }
        }
    }
}

/// Sums over quantized panels, group by group.
struct InGroups<G>(PhantomData<G>);

impl<G: PackedGroups> Sums for InGroups<G> {
    #[inline(always)]
    fn of<I: Isa, const P: usize>(product: &Product<'_>, first: usize) -> [[f32; LANES]; P] {
        let Product { layer, x, .. } = product;
        let panels = array::from_fn(|i| layer.weights.groups::<G>(first + i));
        quantized::single::<I, G, P>(panels, x.numbers.as_chunks().0, &x.sums)
    }
}

/// One pass of rows over some quantized panels, which are unpacked on the way.
struct PassOfFew<'a, G> {
    product: &'a Product<'a>,
    panels: Range<usize>,
    pass: PackedPass<'a>,
    groups: PhantomData<G>,
}

impl<G: PackedGroups> RowKernel for PassOfFew<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa, const M: usize>(self) {
        let mut index = self.panels.start;
        while index < self.panels.end {
            let left = self.panels.end - index;
            // As many panels at a time as have room for their sums in the registers.
            index += match (M, I::HALVES) {
                (1..=2, false) if left >= 4 => self.several::<I, M, 4>(index),
                (1..=3, false) if left >= 2 => self.several::<I, M, 2>(index),
                (1..=6, false) | (1..=3, true) => self.several::<I, M, 1>(index),
                _ => self.unpacked::<I, M>(index),
            };
        }
    }
}

impl<G: PackedGroups> PassOfFew<'_, G> {
    /// Returns `P`.
    #[inline(always)]
    fn several<I: Isa, const M: usize, const P: usize>(&self, first: usize) -> usize {
        let (x, sums) = (self.pass.x.as_chunks::<M>().0, self.pass.sums.as_chunks::<M>().0);
        let panels = array::from_fn(|i| self.product.layer.weights.groups::<G>(first + i));
        let products = quantized::in_registers::<I, G, M, P>(panels, x, sums);
        for (panel, products) in (first..).zip(&products) {
            self.store(panel, products);
        }
        P
    }

    /// Returns 1.
    #[inline(always)]
    fn unpacked<I: Isa, const M: usize>(&self, index: usize) -> usize {
        let (x, sums) = (self.pass.x.as_chunks::<M>().0, self.pass.sums.as_chunks::<M>().0);
        let panel = self.product.layer.weights.groups::<G>(index);
        self.store(index, &quantized::few_rows::<I, G, M>(panel, x, sums));
        1
    }

    #[inline(always)]
    fn store(&self, panel: usize, products: &[[f32; LANES]]) {
        for (row, sums) in products.iter().enumerate() {
            self.product.store(self.pass.first_row + row, panel, sums);
        }
    }
}

/// Unpacks the groups of a panel.
struct Unpack<'a, G> {
    panel: &'a [G],
    room: &'a mut Vec<Unpacked>,
}

impl<G: PackedGroups> Kernel for Unpack<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        self.room.clear();
        for groups in self.panel {
            self.room.push(Unpacked::new::<I, G>(groups));
        }
    }
}

/// One pass of rows over one quantized panel.
struct PassInGroups<'a> {
    product: &'a Product<'a>,
    index: usize,
    panel: &'a [Unpacked],
    pass: PackedPass<'a>,
}

impl RowKernel for PassInGroups<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa, const M: usize>(self) {
        let (x, sums) = (self.pass.x.as_chunks::<M>().0, self.pass.sums.as_chunks::<M>().0);
        for (row, sums) in quantized::rows::<I, M>(self.panel, x, sums).iter().enumerate() {
            self.product.store(self.pass.first_row + row, self.index, sums);
        }
    }
}

/// Rows of rounded activations, times some panels.
struct Rounded<'a, G> {
    product: &'a Product<'a>,
    panels: Range<usize>,
    groups: PhantomData<G>,
}

impl<G: PackedGroups> Kernel for Rounded<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let Product { layer, x, .. } = self.product;
        if x.rows == 1 {
            // One after the other: read in turns, as those of f32, they come more slowly.
            for index in self.panels {
                let panel = layer.weights.groups::<G>(index);
                let sums = quantized::single_rounded::<I, G>(panel, &x.rounded);
                self.product.store(0, index, &sums);
            }
            return;
        }
        for index in self.panels {
            for (first, x) in (0..).step_by(ROWS).zip(x.rounded_passes()) {
                let mut sums = [[0.0; LANES]; ROWS];
                let sums = &mut sums[..ROWS.min(self.product.x.rows - first)];
                quantized::rounded::<I, G>(layer.weights.groups(index), x, sums);
                for (row, sums) in (first..).zip(sums) {
                    self.product.store(row, index, sums);
                }
            }
        }
    }
}
