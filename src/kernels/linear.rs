//! Linear layers: panels times rows of `x`.

mod groups;
mod packed;

use std::array;
use std::marker::PhantomData;
use std::ops::Range;

use super::cpu::Cpu;
use super::disjoint::Disjoint;
use super::microkernel::{LANES, product_of_two, product_streamed, single};
use super::number::{Number, with_number};
use super::panels::{PanelFormat, Panels};
use super::quantized::with_groups;
use super::simd::{Isa, Kernel, RowKernel, Simd};
use packed::{Forms, Packed, PackedPass};

/// A weight matrix and its bias, `[n_out]`, if any.
#[derive(Clone, Copy)]
pub struct Layer<'a> {
    pub weights: &'a Panels,
    pub bias: Option<&'a [f32]>,
}

/// Applies each of `layers` to the same `x`, `[rows, n_in]`. Returns `[rows, n_out]` for each.
///
/// # Panics
/// Where the `n_in` of a layer is not that of `x`.
pub fn linear<const N: usize>(layers: [Layer<'_>; N], x: &[f32], rows: usize) -> [Vec<f32>; N] {
    let mut y = layers.map(|_| Vec::new());
    linear_into(layers, x, rows, y.each_mut());
    y
}

// ANCHOR: linear
/// Applies each of `layers` to the same `x`, `[rows, n_in]`. Each `y` becomes `[rows, n_out]`.
///
/// The threads share the panels of all layers: a small matrix alone has too few panels to balance
/// the load.
///
/// # Panics
/// Where the `n_in` of a layer is not that of `x`.
pub(super) fn linear_into<const N: usize>(
    layers: [Layer<'_>; N],
    x: &[f32],
    rows: usize,
    y: [&mut Vec<f32>; N],
) {
    let cpu = Cpu::current();
    if rows == 0 {
        return y.into_iter().for_each(Vec::clear);
    }
    let packed = Packed::new(x, rows, Forms::of(&layers), &cpu);
    let mut products = Vec::with_capacity(N);
    for (layer, y) in layers.iter().zip(y) {
        let [n_out, n_in] = layer.weights.shape();
        assert_eq!(n_in, x.len() / rows);
        y.resize(rows * n_out, 0.0); // all of it is overwritten
        products.push(Product { layer: *layer, x: &packed, y: Disjoint::new(y) });
    }
    let panels: usize = products.iter().map(|product| product.layer.weights.len()).sum();
    let share = panels_of_task(panels, cpu.threads());
    cpu.for_each(panels.div_ceil(share), |task| {
        let end = panels.min((task + 1) * share);
        compute(&products, task * share..end, cpu.simd());
    });
}
// ANCHOR_END: linear

/// Panels per task: enough for long sequential reads, and few enough that the threads finish at
/// about the same time.
fn panels_of_task(panels: usize, threads: usize) -> usize {
    /// Tasks per thread, where there are many panels.
    const TASKS: usize = 6;
    const MOST: usize = 8;
    if threads == 1 || panels > threads * TASKS * MOST {
        return panels.div_ceil(threads * TASKS).min(panels);
    }
    // The panels of the busiest thread, weighted by their time: one or two panels at a time are
    // read more slowly than several.
    let cost = |share: usize| {
        let most = panels.div_ceil(share).div_ceil(threads) * share;
        match share {
            1 => most * 5,
            2 => most * 9 / 2,
            _ => most * 4,
        }
    };
    (1..=MOST).rev().min_by_key(|share| cost(*share)).unwrap_or(1)
}

/// One layer's product: `[rows, n_out]`.
struct Product<'a> {
    layer: Layer<'a>,
    x: &'a Packed<'a>,
    y: Disjoint<'a, f32>,
}

/// Computes some panels of all products, which are numbered consecutively.
fn compute(products: &[Product<'_>], panels: Range<usize>, simd: Simd) {
    let mut before = 0;
    for product in products {
        let weights = product.layer.weights;
        let first = panels.start.max(before) - before;
        let end = panels.end.min(before + weights.len()).saturating_sub(before);
        if first < end {
            let panels = first..end;
            match weights.format() {
                PanelFormat::Dense(format) => {
                    with_number!(format, N => product.panels::<N>(panels, simd));
                }
                PanelFormat::Quantized(format) => {
                    with_groups!(format, G => product.quantized::<G>(panels, simd));
                }
            }
        }
        before += weights.len();
    }
}

impl Product<'_> {
    fn panels<N: Number>(&self, panels: Range<usize>, simd: Simd) {
        if self.x.rows == 1 {
            simd.dispatch(SingleRow { product: self, panels, sums: PhantomData::<Dense<N>> });
        } else {
            self.many_rows::<N>(panels, simd);
        }
    }

    /// Each panel is widened once, for all passes, and stays in the cache from pass to pass.
    fn many_rows<N: Number>(&self, panels: Range<usize>, simd: Simd) {
        /// Up to this many rows, the product is memory-bound. The sums of 12 rows, which are one
        /// pass, would not fit into the registers for two panels.
        const FEW: usize = 11;
        let weights = self.layer.weights;
        let (mut room, mut other_room) = (Vec::new(), Vec::new());
        let mut index = panels.start;
        if self.x.rows <= FEW && !simd.has_halves() {
            while index + 2 <= panels.end {
                let first = weights.panel::<N>(index);
                let first = simd.dispatch(Widen { panel: first, room: &mut room });
                let second = weights.panel::<N>(index + 1);
                let second = simd.dispatch(Widen { panel: second, room: &mut other_room });
                for rows in &self.x.passes {
                    let (panels, pass) = ([first, second], self.x.pass(rows));
                    let rows = pass.rows;
                    simd.dispatch_rows(rows, PassOfTwo { product: self, index, panels, pass });
                }
                index += 2;
            }
        }
        for index in index..panels.end {
            let panel = weights.panel::<N>(index);
            let panel = simd.dispatch(Widen { panel, room: &mut room });
            for rows in &self.x.passes {
                let pass = self.x.pass(rows);
                simd.dispatch_rows(pass.rows, Pass { product: self, index, panel, pass });
            }
        }
    }

    /// Writes the sums of one panel for one row.
    #[inline(always)]
    fn store(&self, row: usize, panel: usize, sums: &[f32; LANES]) {
        let [n_out, _] = self.layer.weights.shape();
        let outputs = panel * LANES..n_out.min((panel + 1) * LANES);
        let start = row * n_out + outputs.start;
        // SAFETY: these are the columns of one panel, and each panel is given to one task.
        let y = unsafe { self.y.part(start..start + outputs.len()) };
        match self.layer.bias {
            None => y.copy_from_slice(&sums[..y.len()]),
            Some(bias) => {
                for ((y, sum), bias) in y.iter_mut().zip(sums).zip(&bias[outputs]) {
                    *y = sum + bias;
                }
            }
        }
    }
}

/// One row of some panels.
struct SingleRow<'a, S> {
    product: &'a Product<'a>,
    panels: Range<usize>,
    sums: PhantomData<S>,
}

/// How one row is multiplied with panels of a format.
trait Sums {
    /// The sums of `P` panels, from `first` on, which are read concurrently.
    fn of<I: Isa, const P: usize>(product: &Product<'_>, first: usize) -> [[f32; LANES]; P];
}

impl<S: Sums> Kernel for SingleRow<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let mut index = self.panels.start;
        while index < self.panels.end {
            index += match (self.panels.end - index, I::PANELS) {
                (1, _) => self.several::<I, 1>(index),
                (2, _) | (_, 2) => self.several::<I, 2>(index),
                (3 | 5, _) => self.several::<I, 3>(index),
                _ => self.several::<I, 4>(index),
            };
        }
    }
}

impl<S: Sums> SingleRow<'_, S> {
    /// Returns `P`.
    #[inline(always)]
    fn several<I: Isa, const P: usize>(&self, first: usize) -> usize {
        for (i, sums) in S::of::<I, P>(self.product, first).iter().enumerate() {
            self.product.store(0, first + i, sums);
        }
        P
    }
}

/// Sums over dense panels.
struct Dense<N>(PhantomData<N>);

impl<N: Number> Sums for Dense<N> {
    #[inline(always)]
    fn of<I: Isa, const P: usize>(product: &Product<'_>, first: usize) -> [[f32; LANES]; P] {
        let Product { layer, x, .. } = product;
        let panels = array::from_fn(|i| layer.weights.panel::<N>(first + i));
        single::<I, N, P>(panels, &x.numbers[..x.n_in])
    }
}

/// Widens a panel to f32, into `room` unless it is f32 already.
struct Widen<'a, N> {
    panel: &'a [[N; LANES]],
    room: &'a mut Vec<[f32; LANES]>,
}

impl<'a, N: Number> Kernel for Widen<'a, N> {
    type Output = &'a [[f32; LANES]];

    #[inline(always)]
    fn run<I: Isa>(self) -> Self::Output {
        N::widen_panel::<I, LANES>(self.panel, self.room)
    }
}

/// One pass of rows over one panel.
struct Pass<'a> {
    product: &'a Product<'a>,
    index: usize,
    panel: &'a [[f32; LANES]],
    pass: PackedPass<'a>,
}

impl RowKernel for Pass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa, const M: usize>(self) {
        let (x, _) = self.pass.x.as_chunks::<M>();
        for (row, sums) in product_streamed::<I, M>(self.panel, x).iter().enumerate() {
            self.product.store(self.pass.first_row + row, self.index, sums);
        }
    }
}

/// One pass of rows over two adjacent panels.
struct PassOfTwo<'a> {
    product: &'a Product<'a>,
    index: usize,
    panels: [&'a [[f32; LANES]]; 2],
    pass: PackedPass<'a>,
}

impl RowKernel for PassOfTwo<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa, const M: usize>(self) {
        // Quantized layers of the same inputs may need room for whole groups.
        let (x, _) = self.pass.x.as_chunks::<M>();
        let x = &x[..self.product.x.n_in];
        for (panel, sums) in product_of_two::<M>(self.panels, x).iter().enumerate() {
            for (row, sums) in sums.iter().enumerate() {
                self.product.store(self.pass.first_row + row, self.index + panel, sums);
            }
        }
    }
}
