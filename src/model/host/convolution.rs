//! The short convolution of LFM2 on the CPU.

use super::{Linear, Stop, Watch, linear};
use crate::error::Result;
use crate::model::config::{Convolution, LlamaConfig, ModelConfig};
use crate::model::convolution::ConvolutionCore;
use crate::model::pass::Pass;
use crate::model::source::{Role, Source};

/// As [`convolution`](crate::model::convolution) defines it.
#[derive(Debug)]
pub(super) struct ShortConvolution {
    input: Linear,
    output: Linear,
    core: ConvolutionCore,
}

impl ShortConvolution {
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        (config, llama, index): (&ModelConfig, &LlamaConfig, usize),
        shape: Convolution,
    ) -> Result<Self> {
        let d_model = config.d_model;
        let linear = |part: &str, shape_of| {
            Linear::load(weights, &format!("{name}.{part}"), shape_of, Role::Layer, shape.bias)
        };
        Ok(Self {
            input: linear("in_proj", [3 * d_model, d_model])?,
            output: linear("out_proj", [d_model, d_model])?,
            core: ConvolutionCore::load(weights, name, (config, llama, index), shape)?,
        })
    }

    /// The linear layers that adapters can change.
    pub(super) fn linears(&mut self) -> Vec<&mut Linear> {
        vec![&mut self.input, &mut self.output]
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
        linear([&self.input], x, rows, [projected]);
        let mixed = self.core.forward(projected, pass);
        watch(Stop::Mixed, &mixed);
        linear([&self.output], &mixed, rows, [added]);
    }
}
