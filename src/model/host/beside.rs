//! A feed-forward network with experts beside it, on the CPU.

use super::gated::GatedScratch;
use super::{Linear, Watch, add};
use crate::model::adapted::Rows;
use crate::model::beside::Beside;

impl Beside<Linear, Vec<f32>> {
    /// `x` is what the feed-forward network reads, and `sum` is what it is the norm of: `[seq, d_model]`, and so is
    /// what `y` becomes.
    pub(super) fn forward(
        &self,
        [x, sum]: [&[f32]; 2],
        rows: &Rows,
        y: &mut Vec<f32>,
        scratch: &mut GatedScratch,
        watch: &mut Watch<'_>,
    ) {
        self.dense.forward(x, rows, y, scratch, watch);
        self.dense_output_norm.apply(y);
        let [mut routed, mut read, mut added] = [sum.to_vec(), sum.to_vec(), Vec::new()];
        self.router_norm.apply(&mut routed);
        self.experts_norm.apply(&mut read);
        self.experts.forward_by([&routed, &read], rows.count, &mut added, scratch, watch);
        self.experts_output_norm.apply(&mut added);
        add(y, &added);
    }
}
