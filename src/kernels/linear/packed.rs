//! Rows of `x`, packed for the microkernel.

use std::borrow::Cow;
use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use half::bf16;

use crate::kernels::cpu::Cpu;
use crate::kernels::disjoint::Disjoint;
#[cfg(target_arch = "x86_64")]
use crate::kernels::pairs::amx;
use crate::kernels::pairs::{self, Form};
use crate::kernels::panels::PanelFormat;
use crate::kernels::quantized::{self, Activations, GROUP, ROWS, RoundedGroup};
#[cfg(target_arch = "x86_64")]
use crate::kernels::simd::Simd;
use crate::kernels::simd::{Isa, Kernel, RowKernel};

use super::Layer;

/// Rows of `x`, packed for the microkernel: each pass as `[n_in][rows]`, one after the other.
#[derive(Default)]
pub struct Packed<'a> {
    pub rows: usize,
    pub n_in: usize,
    /// The inputs that a pass has room for: for quantized weights, whole groups.
    pub n_packed: usize,
    /// The rows of each pass. A single row is not packed.
    pub passes: Vec<Range<usize>>,
    pub numbers: Cow<'a, [f32]>,
    /// For quantized weights: the sum of each group of inputs, each pass as `[groups][rows]`.
    pub sums: Vec<f32>,
    /// Activations rounded to bf16, in the form that instructions want: each pass one after the other.
    pub words: Vec<u32>,
    /// The same for a matrix unit, in place of words: whole tiles of rows.
    #[cfg(target_arch = "x86_64")]
    pub tiles: Vec<bf16>,
    /// Activations rounded to integers: passes of up to [`ROWS`] rows, each as `[groups][rows]`.
    pub rounded: Vec<RoundedGroup>,
}

/// The forms of `x` that some layers want.
#[derive(Clone, Copy, Default)]
pub struct Forms {
    numbers: bool,
    sums: bool,
    words: bool,
    rounded: bool,
}

impl Forms {
    pub fn of(layers: &[Layer<'_>]) -> Self {
        let mut forms = Self::default();
        for Layer { weights, .. } in layers {
            match weights.activations() {
                Activations::Bf16 => forms.words = true,
                Activations::Int8 => forms.rounded = true,
                Activations::F32 => {
                    forms.numbers = true;
                    forms.sums |= matches!(weights.format(), PanelFormat::Quantized(_));
                }
            }
        }
        forms
    }
}

/// One pass.
pub struct PackedPass<'a> {
    pub first_row: usize,
    pub rows: usize,
    /// `[n_packed][rows]`
    pub x: &'a [f32],
    /// `[groups][rows]`
    pub sums: &'a [f32],
    /// For [`PairProducts`](crate::kernels::pairs::PairProducts).
    pub words: &'a [u32],
}

impl<'a> Packed<'a> {
    pub fn new(x: &'a [f32], rows: usize, forms: Forms, cpu: &Cpu) -> Self {
        let mut first = 0;
        let mut passes = Vec::new();
        for pass in cpu.simd().passes(rows) {
            passes.push(first..first + pass);
            first += pass;
        }
        let mut packed = Self { rows, n_in: x.len() / rows, passes, ..Self::default() };
        if forms.numbers {
            packed.pack_numbers(x, forms.sums, cpu);
        }
        if forms.rounded {
            packed.rounded = round(x, rows, cpu);
        }
        if forms.words {
            #[cfg(target_arch = "x86_64")]
            if cpu.simd() == Simd::Amx && rows >= amx::FEW {
                packed.tiles = tiles(x, rows, cpu);
                return packed;
            }
            packed.words = words(x, &packed.passes, cpu);
        }
        packed
    }

    fn pack_numbers(&mut self, x: &'a [f32], in_groups: bool, cpu: &Cpu) {
        let Self { rows, n_in, passes, .. } = self;
        let (rows, n_in) = (*rows, *n_in);
        let groups = if in_groups { n_in.div_ceil(GROUP) } else { 0 };
        let n_packed = n_in.max(groups * GROUP);
        let mut sums = vec![0.0; groups * rows];
        let mut numbers = Cow::Borrowed(x);
        if rows > 1 {
            let mut packed = vec![0.0; rows * n_packed];
            let parts = (Disjoint::new(&mut packed), Disjoint::new(&mut sums));
            for_each_pass(passes.len(), x, cpu, |i| {
                let rows = &passes[i];
                let of = |width: usize| rows.start * width..rows.end * width;
                // SAFETY: the parts of two passes do not overlap, and each is packed once.
                let (packed, sums) =
                    unsafe { (parts.0.part(of(n_packed)), parts.1.part(of(groups))) };
                pack(&x[of(n_in)], packed, rows.len());
                if groups > 0 {
                    cpu.simd().dispatch_rows(rows.len(), SumGroups { x: packed, sums });
                }
            });
            numbers = packed.into();
        } else {
            if n_packed > n_in {
                numbers.to_mut().resize(n_packed, 0.0);
            }
            sum_groups::<1>(&numbers, &mut sums);
        }
        self.n_packed = n_packed;
        self.numbers = numbers;
        self.sums = sums;
    }

    /// The passes of [`rounded`](Self::rounded): of [`ROWS`] rows, and the last of those that are left.
    #[inline(always)]
    pub fn rounded_passes(&self) -> impl Iterator<Item = &[RoundedGroup]> {
        self.rounded.chunks(ROWS * self.n_in.div_ceil(GROUP))
    }

    /// The pass of these rows.
    #[inline(always)]
    pub fn pass(&self, rows: &Range<usize>) -> PackedPass<'_> {
        let [groups, words] = [self.sums.len(), self.words.len()].map(|all| all / self.rows);
        let of = |width: usize| rows.start * width..rows.end * width;
        PackedPass {
            first_row: rows.start,
            rows: rows.len(),
            x: &self.numbers[of(self.n_packed)],
            sums: &self.sums[of(groups)],
            words: &self.words[of(words)],
        }
    }
}

/// Calls `pack` for each pass of `x`, on all threads where that pays.
fn for_each_pass(passes: usize, x: &[f32], cpu: &Cpu, pack: impl Fn(usize) + Sync) {
    /// Fewer numbers than this are packed sooner than another thread begins.
    const MANY: usize = 1 << 15;
    if x.len() < MANY {
        (0..passes).for_each(pack);
    } else {
        cpu.for_each(passes, pack);
    }
}

/// Rounds `x`, `[rows][n_in]`, to bf16, and packs each pass in the form that instructions want.
fn words(x: &[f32], passes: &[Range<usize>], cpu: &Cpu) -> Vec<u32> {
    let rows = passes.last().map_or(1, |pass| pass.end);
    let n_in = x.len() / rows;
    let form = cpu.simd().form_of_pairs();
    let width = pairs::words_of(n_in, form);
    let mut words = vec![0; rows * width];
    let parts = Disjoint::new(&mut words);
    for_each_pass(passes.len(), x, cpu, |i| {
        let rows = &passes[i];
        // SAFETY: the parts of two passes do not overlap, and each is packed once.
        let words = unsafe { parts.part(rows.start * width..rows.end * width) };
        let x = &x[rows.start * n_in..rows.end * n_in];
        cpu.simd().dispatch(PackPairs { x, n_in, form, words });
    });
    words
}

/// Rounds `x`, `[rows][n_in]`, to bf16, for a matrix unit.
#[cfg(target_arch = "x86_64")]
fn tiles(x: &[f32], rows: usize, cpu: &Cpu) -> Vec<bf16> {
    let n_in = x.len() / rows;
    let width = amx::row_length(n_in);
    let mut tiles = vec![bf16::ZERO; rows.next_multiple_of(amx::ROWS) * width];
    let parts = Disjoint::new(&mut tiles);
    for_each_pass(rows.div_ceil(amx::ROWS), x, cpu, |i| {
        let rows = i * amx::ROWS..rows.min((i + 1) * amx::ROWS);
        // SAFETY: the parts of two tiles do not overlap, and each is packed once.
        let tile = unsafe { parts.part(rows.start * width..rows.end * width) };
        let x = x[rows.start * n_in..rows.end * n_in].chunks_exact(n_in);
        for (row, x) in tile.chunks_exact_mut(width).zip(x) {
            amx::pack_row(x, row);
        }
    });
    tiles
}

/// [`pairs::pack`]
struct PackPairs<'a> {
    x: &'a [f32],
    n_in: usize,
    form: Form,
    words: &'a mut [u32],
}

impl Kernel for PackPairs<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        pairs::pack(self.x, self.n_in, self.form, self.words);
    }
}

/// Rounds the groups of `x`, `[rows][n_in]`: passes of up to [`ROWS`] rows, each as `[groups][rows]`.
fn round(x: &[f32], rows: usize, cpu: &Cpu) -> Vec<RoundedGroup> {
    let n_in = x.len() / rows;
    let groups = n_in.div_ceil(GROUP);
    let mut rounded = vec![RoundedGroup::ZERO; rows * groups];
    let parts = Disjoint::new(&mut rounded);
    let round_one = |pass: usize| {
        let rows = pass * ROWS..rows.min((pass + 1) * ROWS);
        // SAFETY: the parts of two passes do not overlap, and each is rounded once.
        let rounded = unsafe { parts.part(rows.start * groups..rows.end * groups) };
        let x = &x[rows.start * n_in..rows.end * n_in];
        cpu.simd().dispatch(Round { x, n_in, rounded });
    };
    for_each_pass(rows.div_ceil(ROWS), x, cpu, round_one);
    rounded
}

/// Rounds one pass of rows, `[rows][n_in]` -> `[groups][rows]`.
struct Round<'a> {
    x: &'a [f32],
    n_in: usize,
    rounded: &'a mut [RoundedGroup],
}

impl Kernel for Round<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let rows = self.x.len() / self.n_in;
        for (row, x) in self.x.chunks_exact(self.n_in).enumerate() {
            let rounded = self.rounded[row..].iter_mut().step_by(rows);
            for (rounded, x) in rounded.zip(x.chunks(GROUP)) {
                let mut group = [0.0; GROUP];
                group[..x.len()].copy_from_slice(x);
                *rounded = RoundedGroup::new(&group);
            }
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
