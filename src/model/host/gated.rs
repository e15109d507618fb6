//! The gated feed-forward network on the CPU.

use super::{Linear, Stop, Watch, linear};
use crate::kernels::recorded;
use crate::model::adapted::Rows;
use crate::model::feed_forward::FeedForward;

/// The vectors of a gated network, `[seq, d_ff]`. All networks of a pass use the same memory.
#[derive(Default)]
pub(super) struct GatedScratch {
    gate: Vec<f32>,
    up: Vec<f32>,
}

impl FeedForward<Linear> {
    /// The linear layers that adapters can change.
    pub(super) fn linears(&mut self) -> Vec<&mut Linear> {
        vec![&mut self.gate_proj, &mut self.up_proj, &mut self.down_proj]
    }

    /// `x` is `[seq, d_model]`, and so is what `y` becomes.
    pub(super) fn forward(
        &self,
        x: &[f32],
        rows: &Rows,
        y: &mut Vec<f32>,
        scratch: &mut GatedScratch,
        watch: &mut Watch<'_>,
    ) {
        let GatedScratch { gate, up } = scratch;
        linear([&self.gate_proj, &self.up_proj], x, rows, [gate, up]);
        watch(Stop::Gate, gate);
        watch(Stop::Up, up);
        recorded::gated(gate, up, self.activation);
        watch(Stop::Gated, gate);
        linear([&self.down_proj], gate, rows, [y]);
    }
}
