//! Products of quantized panels.

use std::marker::PhantomData;
use std::ops::Range;

use super::packed::PackedPass;
use super::{FEW_PASSES, Product, Sums};
use crate::kernels::microkernel::LANES;
use crate::kernels::panels::Panels;
use crate::kernels::quantized::{self, Activations, PackedGroups, ROWS, Unpacked};
use crate::kernels::simd::{Isa, Kernel, RowKernel, Simd};

impl Product<'_> {
    /// Panels of the format `G`.
    pub(super) fn quantized<G: PackedGroups>(&self, panels: Range<usize>, simd: Simd) {
        match self.layer.weights.activations() {
            // Those in bf16 are for weights that are too.
            Activations::F32 | Activations::Bf16 => self.groups::<G>(panels, simd),
            Activations::Int8 => {
                simd.dispatch_integers(Rounded { product: self, panels, groups: PhantomData::<G> });
            }
        }
    }

    /// Few passes convert integers in registers, each anew. For more, each panel is unpacked once.
    fn groups<G: PackedGroups>(&self, panels: Range<usize>, simd: Simd) {
        let weights = self.layer.weights;
        if self.x.passes.len() <= FEW_PASSES {
            self.few_passes::<InGroups<G>>(panels, simd);
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
    fn of<I: Isa, const M: usize, const P: usize>(
        weights: &Panels,
        first: usize,
        pass: &PackedPass<'_>,
    ) -> [[[f32; LANES]; M]; P] {
        let mut panels = [weights.groups::<G>(first); P];
        for p in 1..P {
            panels[p] = weights.groups::<G>(first + p);
        }
        quantized::products::<I, G, M, P>(panels, pass.x.as_chunks().0, pass.sums.as_chunks().0)
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
        for (row, sums) in quantized::unpacked::<I, M>(self.panel, x, sums).iter().enumerate() {
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
        let mut room = vec![[0.0; LANES]; x.rows.min(ROWS)];
        for index in self.panels {
            for (first, of_pass) in (0..).step_by(ROWS).zip(x.rounded_passes()) {
                let sums = &mut room[..ROWS.min(x.rows - first)];
                sums.fill([0.0; LANES]);
                quantized::rounded::<I, G>(layer.weights.groups(index), of_pass, sums);
                for (row, sums) in (first..).zip(sums) {
                    self.product.store(row, index, sums);
                }
            }
        }
    }
}
