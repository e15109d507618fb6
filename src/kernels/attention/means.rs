//! The online softmax: weighted sums of values, merged span by span.

use super::{Heads, Task};
use crate::kernels::disjoint::Disjoint;
use crate::kernels::exp::exp;
use crate::kernels::simd::fma;

/// Weighted sums of values for some queries, not yet normalized.
pub(super) struct Means {
    /// For each query the maximum score, and the sum of the weights relative to it; the sum is 0
    /// where all positions are masked.
    pub(super) rows: Vec<(f32, f32)>,
    /// `[queries][value_width]`
    pub(super) sums: Vec<f32>,
}

impl Means {
    /// Merges the result of a later span.
    #[inline(always)]
    pub(super) fn merge(&mut self, later: &Means) {
        let width = self.sums.len() / self.rows.len();
        let sums = self.sums.chunks_exact_mut(width).zip(later.sums.chunks_exact(width));
        for ((row, later_row), (sums, later_sums)) in
            self.rows.iter_mut().zip(&later.rows).zip(sums)
        {
            let ((max, sum), (later_max, later_sum)) = (*row, *later_row);
            if later_sum == 0.0 {
                continue;
            }
            if sum == 0.0 {
                // All earlier spans are before the window.
                *row = *later_row;
                sums.copy_from_slice(later_sums);
                continue;
            }
            let greatest = if later_max > max { later_max } else { max };
            let (scale, later_scale) = (exp(max - greatest), exp(later_max - greatest));
            *row = (greatest, fma(sum, scale, later_sum * later_scale));
            for (sum, later) in sums.iter_mut().zip(later_sums) {
                *sum = fma(*sum, scale, later * later_scale);
            }
        }
    }

    pub(super) fn write(&self, heads: &Heads<'_>, task: &Task<'_>, out: &Disjoint<'_, f32>) {
        let width = self.sums.len() / self.rows.len();
        for (query, (max, weights)) in self.rows.iter().enumerate() {
            // SAFETY: each query belongs to one task, and each row to one sequence.
            let out = unsafe { out.part(heads.range(task, query)) };
            // ANCHOR: sink
            // A sink has a weight, and nothing to add.
            let scale = match heads.scoring.sinks {
                Some(sinks) => 1.0 / (weights + exp(sinks[heads.head(task, query)] - max)),
                None => 1.0 / weights,
            };
            // ANCHOR_END: sink
            for (out, sum) in out.iter_mut().zip(&self.sums[query * width..]) {
                *out = sum * scale;
            }
        }
    }
}
