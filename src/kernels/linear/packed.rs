//! Rows of `x`, packed for the microkernel.

use std::borrow::Cow;
use std::ops::Range;

use crate::kernels::cpu::Cpu;
use crate::kernels::disjoint::Disjoint;
use crate::kernels::quantized::{self, GROUP};
use crate::kernels::simd::{Isa, RowKernel};

/// Rows of `x`, packed for the microkernel: each pass as `[n_in][rows]`, one after the other.
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
}

/// One pass.
pub struct PackedPass<'a> {
    pub first_row: usize,
    pub rows: usize,
    /// `[n_packed][rows]`
    pub x: &'a [f32],
    /// `[groups][rows]`
    pub sums: &'a [f32],
}

impl<'a> Packed<'a> {
    pub fn new(x: &'a [f32], rows: usize, in_groups: bool, cpu: &Cpu) -> Self {
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
    pub fn pass(&self, rows: &Range<usize>) -> PackedPass<'_> {
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
