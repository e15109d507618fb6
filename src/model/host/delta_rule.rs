//! A layer with the gated delta rule on the CPU.

use super::{Linear, Stop, Watch, linear};
use crate::model::delta_rule::GatedDelta;
use crate::model::pass::Pass;

impl GatedDelta<Linear> {
    /// The linear layers that adapters can change.
    pub(super) fn linears(&mut self) -> Vec<&mut Linear> {
        let Self { in_proj_qkv, in_proj_z, in_proj_b, in_proj_a, out_proj, .. } = self;
        vec![in_proj_qkv, in_proj_z, in_proj_b, in_proj_a, out_proj]
    }

    /// What the layer adds to `x`, `[seq, d_model]`.
    pub(super) fn forward(
        &self,
        x: &[f32],
        pass: &mut Pass<'_>,
        [qkv, z, b]: &mut [Vec<f32>; 3],
        added: &mut Vec<f32>,
        watch: &mut Watch<'_>,
    ) {
        let (rows, mut a) = (&pass.rows(), Vec::new());
        let Self { in_proj_qkv, in_proj_z, in_proj_b, in_proj_a, .. } = self;
        let inputs = [in_proj_qkv, in_proj_z, in_proj_b, in_proj_a];
        linear(inputs, x, rows, [qkv, z, b, &mut a]);
        self.core.forward([qkv, b, &a], z, pass);
        watch(Stop::Mixed, z);
        linear([&self.out_proj], z, rows, [added]);
    }
}
