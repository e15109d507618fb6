//! Linear layers: panels times rows of `x`.

use std::array;
use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Range;

use super::cpu::Cpu;
use super::disjoint::Disjoint;
use super::microkernel::{LANES, product_of_two, product_streamed, single};
use super::number::{Number, with_number};
use super::panels::{PanelFormat, Panels};
use super::quantized::{self, GROUP, PackedGroups, Unpacked, with_groups};
use super::simd::{Isa, Kernel, RowKernel, Simd};

/// A weight matrix and its bias, `[n_out]`, if any.
#[derive(Clone, Copy)]
pub struct Layer<'a> {
    pub weights: &'a Panels,
    pub bias: Option<&'a [f32]>,
}

// ANCHOR: linear
/// Applies each of `layers` to the same `x`, `[rows, n_in]`. Returns `[rows, n_out]` for each.
///
/// The threads share the panels of all layers: a small matrix alone has too few panels to balance
/// the load.
///
/// # Panics
/// Where the `n_in` of a layer is not that of `x`.
pub fn linear<const N: usize>(layers: [Layer<'_>; N], x: &[f32], rows: usize) -> [Vec<f32>; N] {
    let cpu = Cpu::current();
    let mut y = layers.map(|layer| vec![0.0; rows * layer.weights.shape()[0]]);
    if rows == 0 {
        return y;
    }
    let is_quantized =
        |layer: &Layer<'_>| matches!(layer.weights.format(), PanelFormat::Quantized(_));
    let packed = Packed::new(x, rows, layers.iter().any(is_quantized), &cpu);
    {
        let mut products = Vec::with_capacity(N);
        for (layer, y) in layers.iter().zip(&mut y) {
            assert_eq!(layer.weights.shape()[1], x.len() / rows);
            products.push(Product { layer: *layer, x: &packed, y: Disjoint::new(y) });
        }
        let panels: usize = products.iter().map(|product| product.layer.weights.len()).sum();
        let share = panels_of_task(panels, cpu.threads());
        cpu.for_each(panels.div_ceil(share), |task| {
            let end = panels.min((task + 1) * share);
            compute(&products, task * share..end, cpu.simd());
        });
    }
    y
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

/// Rows of `x`, packed for the microkernel: each pass as `[n_in][rows]`, one after the other.
struct Packed<'a> {
    rows: usize,
    n_in: usize,
    /// The inputs that a pass has room for: for quantized weights, whole groups.
    n_packed: usize,
    /// The rows of each pass. A single row is not packed.
    passes: Vec<Range<usize>>,
    numbers: Cow<'a, [f32]>,
    /// For quantized weights: the sum of each group of inputs, each pass as `[groups][rows]`.
    sums: Vec<f32>,
}

/// One pass.
struct PackedPass<'a> {
    first_row: usize,
    rows: usize,
    /// `[n_packed][rows]`
    x: &'a [f32],
    /// `[groups][rows]`
    sums: &'a [f32],
}

impl<'a> Packed<'a> {
    fn new(x: &'a [f32], rows: usize, in_groups: bool, cpu: &Cpu) -> Self {
        /// Fewer numbers than this are packed sooner than another thread begins.
        const MANY: usize = 1 << 15;
        let n_in = x.len() / rows;
        let groups = if in_groups { n_in.div_ceil(GROUP) } else { 0 };
        let n_packed = n_in.max(groups * GROUP);
        let mut sums = vec![0.0; groups * rows];
        if rows == 1 {
            let mut numbers = Cow::Borrowed(x);
            if n_packed > n_in {
                numbers.to_mut().resize(n_packed, 0.0);
            }
            sum_groups::<1>(&numbers, &mut sums);
            let passes = std::iter::once(0..1).collect();
            return Self { rows, n_in, n_packed, passes, numbers, sums };
        }
        let mut first = 0;
        let mut passes = Vec::new();
        for pass in cpu.simd().passes(rows) {
            passes.push(first..first + pass);
            first += pass;
        }
        let mut numbers = vec![0.0; rows * n_packed];
        let (packed, packed_sums) = (Disjoint::new(&mut numbers), Disjoint::new(&mut sums));
        let pack_one = |i: usize| {
            let rows = &passes[i];
            let of = |width: usize| rows.start * width..rows.end * width;
            // SAFETY: the parts of two passes do not overlap, and each is packed once.
            let (packed, sums) =
                unsafe { (packed.part(of(n_packed)), packed_sums.part(of(groups))) };
            pack(&x[of(n_in)], packed, rows.len());
            if groups > 0 {
                cpu.simd().dispatch_rows(rows.len(), SumGroups { x: packed, sums });
            }
        };
        if x.len() < MANY {
            (0..passes.len()).for_each(pack_one);
        } else {
            cpu.for_each(passes.len(), pack_one);
        }
        Self { rows, n_in, n_packed, passes, numbers: numbers.into(), sums }
    }

    /// The pass of these rows.
    #[inline(always)]
    fn pass(&self, rows: &Range<usize>) -> PackedPass<'_> {
        let groups = self.sums.len() / self.rows;
        let of = |width: usize| rows.start * width..rows.end * width;
        PackedPass {
            first_row: rows.start,
            rows: rows.len(),
            x: &self.numbers[of(self.n_packed)],
            sums: &self.sums[of(groups)],
        }
    }
}

/// The sum of each group of inputs, for one pass: `[n_packed][rows]` -> `[groups][rows]`.
struct SumGroups<'a> {
    x: &'a [f32],
    sums: &'a mut [f32],
}

impl RowKernel for SumGroups<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa, const M: usize>(self) {
        sum_groups::<M>(self.x, self.sums);
    }
}

#[inline(always)]
fn sum_groups<const M: usize>(x: &[f32], sums: &mut [f32]) {
    let (x, _) = x.as_chunks::<M>();
    let (groups, _) = x.as_chunks::<GROUP>();
    for (group, sums) in groups.iter().zip(sums.as_chunks_mut::<M>().0) {
        *sums = quantized::sum_group(group);
    }
}

/// `[rows][n_in]` -> `[n_in][rows]`
fn pack(x: &[f32], packed: &mut [f32], rows: usize) {
    /// Numbers of each row in a strip: the packed strip then stays in the L1 cache.
    const STRIP: usize = 256;
    let n_in = x.len() / rows;
    for first in (0..n_in).step_by(STRIP) {
        let strip = first..n_in.min(first + STRIP);
        for (row, x) in x.chunks_exact(n_in).enumerate() {
            let packed = packed[first * rows + row..].iter_mut().step_by(rows);
            for (packed, x) in packed.zip(&x[strip.clone()]) {
                *packed = *x;
            }
        }
    }
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
                    with_groups!(format, G => product.groups::<G>(panels, simd));
                }
            }
        }
        before += weights.len();
    }
}

impl Product<'_> {
    fn panels<N: Number>(&self, panels: Range<usize>, simd: Simd) {
        if self.x.rows == 1 {
            simd.dispatch(SingleRow { product: self, panels, number: PhantomData::<N> });
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

    /// Quantized panels. For a single row, integers are converted in registers; for a few passes of
    /// rows, each pass unpacks a panel group by group; for more, each panel is unpacked once, for all
    /// of them.
    fn groups<G: PackedGroups>(&self, panels: Range<usize>, simd: Simd) {
        let weights = self.layer.weights;
        if self.x.rows == 1 {
            simd.dispatch(SingleInGroups { product: self, panels, groups: PhantomData::<G> });
            return;
        }
        if self.x.passes.len() <= G::FEW_PASSES {
            for index in panels {
                for rows in &self.x.passes {
                    let (panel, pass) = (weights.groups::<G>(index), self.x.pass(rows));
                    let rows = pass.rows;
                    simd.dispatch_rows(rows, PassOfFew { product: self, index, panel, pass });
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
struct SingleRow<'a, N> {
    product: &'a Product<'a>,
    panels: Range<usize>,
    number: PhantomData<N>,
}

impl<N: Number> Kernel for SingleRow<'_, N> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let mut index = self.panels.start;
        while index < self.panels.end {
            index += match self.panels.end - index {
                1 => self.several::<I, 1>(index),
                2 => self.several::<I, 2>(index),
                3 | 5 => self.several::<I, 3>(index),
                _ => self.several::<I, 4>(index),
            };
        }
    }
}

impl<N: Number> SingleRow<'_, N> {
    /// `P` panels, which are read concurrently. Returns `P`.
    #[inline(always)]
    fn several<I: Isa, const P: usize>(&self, first: usize) -> usize {
        let Product { layer, x, .. } = self.product;
        let panels = array::from_fn(|i| layer.weights.panel::<N>(first + i));
        for (i, sums) in single::<I, N, P>(panels, &x.numbers[..x.n_in]).iter().enumerate() {
            self.product.store(0, first + i, sums);
        }
        P
    }
}

/// One row of some quantized panels.
struct SingleInGroups<'a, G> {
    product: &'a Product<'a>,
    panels: Range<usize>,
    groups: PhantomData<G>,
}

impl<G: PackedGroups> Kernel for SingleInGroups<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let mut index = self.panels.start;
        while index < self.panels.end {
            index += match self.panels.end - index {
                1 => self.several::<I, 1>(index),
                2 => self.several::<I, 2>(index),
                3 | 5 => self.several::<I, 3>(index),
                _ => self.several::<I, 4>(index),
            };
        }
    }
}

impl<G: PackedGroups> SingleInGroups<'_, G> {
    /// `P` panels, which are read concurrently. Returns `P`.
    #[inline(always)]
    fn several<I: Isa, const P: usize>(&self, first: usize) -> usize {
        let Product { layer, x, .. } = self.product;
        let panels = array::from_fn(|i| layer.weights.groups::<G>(first + i));
        let (numbers, _) = x.numbers.as_chunks();
        for (i, sums) in quantized::single::<I, G, P>(panels, numbers, &x.sums).iter().enumerate() {
            self.product.store(0, first + i, sums);
        }
        P
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

/// One pass of rows over one quantized panel, which is unpacked on the way.
struct PassOfFew<'a, G> {
    product: &'a Product<'a>,
    index: usize,
    panel: &'a [G],
    pass: PackedPass<'a>,
}

impl<G: PackedGroups> RowKernel for PassOfFew<'_, G> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa, const M: usize>(self) {
        let (x, sums) = (self.pass.x.as_chunks::<M>().0, self.pass.sums.as_chunks::<M>().0);
        let products = quantized::few_rows::<I, G, M>(self.panel, x, sums);
        for (row, sums) in products.iter().enumerate() {
            self.product.store(self.pass.first_row + row, self.index, sums);
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
