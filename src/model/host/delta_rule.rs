//! A layer with the gated delta rule on the CPU.

use super::{Linear, Stop, Watch, linear};
use crate::error::Result;
use crate::model::config::{DeltaRule, LlamaConfig, ModelConfig};
use crate::model::delta_rule::{DeltaCore, Inputs};
use crate::model::pass::Pass;
use crate::model::source::Source;

/// As [`delta_rule`](crate::model::delta_rule) defines it.
#[derive(Debug)]
pub(super) struct GatedDelta {
    linears: Inputs<Linear>,
    core: DeltaCore,
}

impl GatedDelta {
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        (config, llama, index): (&ModelConfig, &LlamaConfig, usize),
        rule: DeltaRule,
    ) -> Result<Self> {
        let linears = Inputs::load(rule, config.d_model, |part, shape, role| {
            Linear::load(weights, &format!("{name}.{part}"), shape, role, false)
        })?;
        let core = DeltaCore::load(weights, name, (config, llama, index), rule)?;
        Ok(Self { linears, core })
    }

    /// The linear layers that adapters can change.
    pub(super) fn linears(&mut self) -> Vec<&mut Linear> {
        let Inputs { qkv, z, b, a, output } = &mut self.linears;
        vec![qkv, z, b, a, output]
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
        let Inputs { qkv: to_qkv, z: to_z, b: to_b, a: to_a, output } = &self.linears;
        linear([to_qkv, to_z, to_b, to_a], x, rows, [qkv, z, b, &mut a]);
        self.core.forward([qkv, b, &a], z, pass);
        watch(Stop::Mixed, z);
        linear([output], z, rows, [added]);
    }
}
