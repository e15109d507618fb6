//! Linear layers: panels times rows of `x`.

mod groups;
mod packed;

use std::marker::PhantomData;
use std::ops::Range;

use half::bf16;

use super::cpu::Cpu;
use super::disjoint::Disjoint;
use super::microkernel::{LANES, panels_at_once, products};
use super::number::{Number, Precision, with_number};
#[cfg(target_arch = "x86_64")]
use super::pairs::amx;
use super::panels::{PanelFormat, Panels};
use super::quantized::{Activations, with_groups};
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
    compute_all(&products, &cpu);
}
// ANCHOR_END: linear

/// Some layers that are applied to the same `x`, `[rows, n_in]`.
pub struct LayersOf<'a> {
    pub layers: Vec<Layer<'a>>,
    pub x: &'a [f32],
    pub rows: usize,
}

/// Applies the layers of each group to the `x` of that group. Returns `[rows, n_out]` for each layer, in order.
///
/// The threads share the panels of all groups.
///
/// # Panics
/// Where the `n_in` of a layer is not that of its `x`.
pub(super) fn linear_of_groups(groups: &[LayersOf<'_>]) -> Vec<Vec<f32>> {
    let cpu = Cpu::current();
    let groups = || groups.iter().filter(|group| group.rows > 0);
    let packed =
        groups().map(|group| Packed::new(group.x, group.rows, Forms::of(&group.layers), &cpu));
    let packed: Vec<_> = packed.collect();
    let layers = || {
        let of = |(group, x)| {
            let LayersOf { layers, .. }: &LayersOf<'_> = group;
            layers.iter().map(move |layer| (*layer, x))
        };
        groups().zip(&packed).flat_map(of)
    };
    let room = |(layer, x): (Layer<'_>, &Packed<'_>)| {
        let [n_out, n_in] = layer.weights.shape();
        assert_eq!(n_in, x.n_in);
        vec![0.0; x.rows * n_out]
    };
    let mut all: Vec<Vec<f32>> = layers().map(room).collect();
    let products = layers().zip(&mut all);
    let products = products.map(|((layer, x), y)| Product { layer, x, y: Disjoint::new(y) });
    compute_all(&products.collect::<Vec<_>>(), &cpu);
    all
}

/// Computes all panels of some products, on all threads.
fn compute_all(products: &[Product<'_>], cpu: &Cpu) {
    let panels: usize = products.iter().map(|product| product.layer.weights.len()).sum();
    let share = panels_of_task(panels, cpu.threads()).max(1);
    cpu.for_each(panels.div_ceil(share), |task| {
        let end = panels.min((task + 1) * share);
        compute(products, task * share..end, cpu.simd());
    });
}

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
                _ if weights.activations() == Activations::Bf16 => {
                    product.pairs(panels, simd);
                }
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

/// Up to so many passes of rows widen weights in registers, each anew: to write a widened panel to
/// memory and read it again costs more.
const FEW_PASSES: usize = 6;

impl Product<'_> {
    fn panels<N: Number>(&self, panels: Range<usize>, simd: Simd) {
        if N::FORMAT == Precision::F32 || self.x.passes.len() <= FEW_PASSES {
            self.few_passes::<Dense<N>>(panels, simd);
            return;
        }
        let mut room = Vec::new();
        for index in panels {
            let panel = self.layer.weights.panel::<N>(index);
            let panel = simd.dispatch(Widen { panel, room: &mut room });
            for rows in &self.x.passes {
                let pass = self.x.pass(rows);
                simd.dispatch_rows(pass.rows, PassWidened { product: self, index, panel, pass });
            }
        }
    }

    /// Panels in bf16, and activations that are too.
    fn pairs(&self, panels: Range<usize>, simd: Simd) {
        #[cfg(target_arch = "x86_64")]
        if !self.x.tiles.is_empty() {
            return self.tiles(panels);
        }
        self.few_passes::<InPairs>(panels, simd);
    }

    /// The same by a matrix unit: each panel is packed as tiles once.
    #[cfg(target_arch = "x86_64")]
    fn tiles(&self, panels: Range<usize>) {
        let mut room = Vec::new();
        let Packed { tiles, rows, n_in, .. } = self.x;
        for index in panels {
            // SAFETY: activations are packed so only for an instruction set that the processor has, which
            // has AVX-512 too.
            unsafe { amx::pack(self.layer.weights.panel::<bf16>(index), &mut room) };
            let tiles = tiles.chunks_exact(amx::ROWS * amx::row_length(*n_in));
            for (first, x) in (0..).step_by(amx::ROWS).zip(tiles) {
                // SAFETY: as above.
                let sums = unsafe { amx::multiply(&room, x) };
                for (row, sums) in (first..*rows).zip(&sums) {
                    self.store(row, index, sums);
                }
            }
        }
    }

    /// Some panels at a time are multiplied by all passes, so that the later ones find them in the L2
    /// cache.
    fn few_passes<S: Sums>(&self, panels: Range<usize>, simd: Simd) {
        /// The panels that a pass of few rows multiplies at a time.
        const SOME: usize = 4;
        const CACHE: usize = 512 << 10;
        let (weights, passes) = (self.layer.weights, &self.x.passes);
        let fit = CACHE / (LANES * weights.row_bytes()).max(1);
        let some = if passes.len() == 1 {
            panels.len()
        } else {
            fit.clamp(1, SOME)
        };
        for first in panels.clone().step_by(some) {
            let panels = first..panels.end.min(first + some);
            for rows in passes {
                let (pass, panels, sums) = (self.x.pass(rows), panels.clone(), PhantomData::<S>);
                S::dispatch(simd, pass.rows, Pass { product: self, panels, pass, sums });
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

/// How panels of a format are multiplied.
trait Sums {
    /// How many sums an output has at a time.
    const OF_ONE: usize = 1;

    fn dispatch<K: RowKernel>(simd: Simd, rows: usize, kernel: K) -> K::Output {
        simd.dispatch_rows(rows, kernel)
    }

    /// The sums of `P` panels, from `first` on, which are read concurrently.
    fn of<I: Isa, const M: usize, const P: usize>(
        weights: &Panels,
        first: usize,
        pass: &PackedPass<'_>,
    ) -> [[[f32; LANES]; M]; P];
}

/// Sums over dense panels.
struct Dense<N>(PhantomData<N>);

impl<N: Number> Sums for Dense<N> {
    #[inline(always)]
    fn of<I: Isa, const M: usize, const P: usize>(
        weights: &Panels,
        first: usize,
        pass: &PackedPass<'_>,
    ) -> [[[f32; LANES]; M]; P] {
        let mut panels = [weights.panel::<N>(first); P];
        for p in 1..P {
            panels[p] = weights.panel::<N>(first + p);
        }
        // Quantized layers of the same inputs may need room for whole groups.
        let [_, n_in] = weights.shape();
        products::<I, N, M, P>(panels, &pass.x.as_chunks().0[..n_in])
    }
}

/// Sums over panels in bf16, of activations that are too.
struct InPairs;

impl Sums for InPairs {
    const OF_ONE: usize = 2;

    fn dispatch<K: RowKernel>(simd: Simd, rows: usize, kernel: K) -> K::Output {
        simd.dispatch_pairs(rows, kernel)
    }

    #[inline(always)]
    fn of<I: Isa, const M: usize, const P: usize>(
        weights: &Panels,
        first: usize,
        pass: &PackedPass<'_>,
    ) -> [[[f32; LANES]; M]; P] {
        let mut panels = [weights.panel::<bf16>(first); P];
        for p in 1..P {
            panels[p] = weights.panel::<bf16>(first + p);
        }
        I::pair_products::<I, M, P>(panels, pass.words)
    }
}

/// One pass of rows over some panels.
struct Pass<'a, S> {
    product: &'a Product<'a>,
    panels: Range<usize>,
    pass: PackedPass<'a>,
    sums: PhantomData<S>,
}

impl<S: Sums> RowKernel for Pass<'_, S> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa, const M: usize>(self) {
        let mut index = self.panels.start;
        while index < self.panels.end {
            let left = self.panels.end - index;
            // A single panel is read more slowly than two.
            index +=
                if const { panels_at_once::<I, M>() >= 4 * S::OF_ONE } && left >= 4 && left != 5 {
                    self.several::<I, M, 4>(index)
                } else if const { panels_at_once::<I, M>() >= 3 * S::OF_ONE } && left >= 3 {
                    self.several::<I, M, 3>(index)
                } else if const { panels_at_once::<I, M>() >= 2 * S::OF_ONE } && left >= 2 {
                    self.several::<I, M, 2>(index)
                } else {
                    self.several::<I, M, 1>(index)
                };
        }
    }
}

impl<S: Sums> Pass<'_, S> {
    /// Returns `P`.
    #[inline(always)]
    fn several<I: Isa, const M: usize, const P: usize>(&self, first: usize) -> usize {
        let Self { product, pass, .. } = self;
        let sums = S::of::<I, M, P>(product.layer.weights, first, pass);
        for (panel, sums) in (first..).zip(&sums) {
            for (row, sums) in sums.iter().enumerate() {
                product.store(pass.first_row + row, panel, sums);
            }
        }
        P
    }
}

/// Widens a panel to f32, into `room`.
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

/// One pass of rows over one widened panel.
struct PassWidened<'a> {
    product: &'a Product<'a>,
    index: usize,
    panel: &'a [[f32; LANES]],
    pass: PackedPass<'a>,
}

impl RowKernel for PassWidened<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa, const M: usize>(self) {
        let x = &self.pass.x.as_chunks().0[..self.panel.len()];
        let [sums] = products::<I, f32, M, 1>([self.panel], x);
        for (row, sums) in sums.iter().enumerate() {
            self.product.store(self.pass.first_row + row, self.index, sums);
        }
    }
}
