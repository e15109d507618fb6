//! The short convolution of LFM2 on the CPU.

use super::{Linear, Stop, Watch, linear};
use crate::model::convolution::ShortConvolution;
use crate::model::pass::Pass;

impl ShortConvolution<Linear> {
    /// The linear layers that adapters can change.
    pub(super) fn linears(&mut self) -> Vec<&mut Linear> {
        vec![&mut self.in_proj, &mut self.out_proj]
    }

    /// What the layer adds to `x`, `[seq, d_model]`.
    pub(super) fn forward(
        &self,
        x: &[f32],
        pass: &mut Pass<'_>,
        [projected, ..]: &mut [Vec<f32>; 3],
        added: &mut Vec<f32>,
        watch: &mut Watch<'_>,
    ) {
        let rows = &pass.rows();
        linear([&self.in_proj], x, rows, [projected]);
        let mixed = self.core.forward(projected, pass);
        watch(Stop::Mixed, &mixed);
        linear([&self.out_proj], &mixed, rows, [added]);
    }
}
