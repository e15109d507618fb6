//! The gated feed-forward network on the CPU.

use super::{Linear, Stop, Watch, linear};
use crate::activation::Activation;
use crate::error::Result;
use crate::kernels::recorded;
use crate::model::adapted::Rows;
use crate::model::config::ModelConfig;
use crate::model::source::{Role, Source};

/// As [`feed_forward`](crate::model::feed_forward) defines it.
#[derive(Debug)]
pub(super) struct Gated {
    gate: Linear,
    up: Linear,
    down: Linear,
    activation: Activation,
}

/// The vectors of a gated network, `[seq, d_ff]`. All networks of a pass use the same memory.
#[derive(Default)]
pub(super) struct GatedScratch {
    gate: Vec<f32>,
    up: Vec<f32>,
}

impl Gated {
    /// Loads the gate, up and down projections from these tensors.
    pub(super) fn load(
        weights: &dyn Source,
        [gate, up, down]: [(String, Role); 3],
        config: &ModelConfig,
        d_ff: usize,
        bias: bool,
    ) -> Result<Self> {
        let d_model = config.d_model;
        let linear =
            |(name, role): (String, Role), shape| Linear::load(weights, &name, shape, role, bias);
        Ok(Self {
            gate: linear(gate, [d_ff, d_model])?,
            up: linear(up, [d_ff, d_model])?,
            down: linear(down, [d_model, d_ff])?,
            activation: config.activation,
        })
    }

    /// The linear layers that adapters can change.
    pub(super) fn linears(&mut self) -> Vec<&mut Linear> {
        vec![&mut self.gate, &mut self.up, &mut self.down]
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
        linear([&self.gate, &self.up], x, rows, [gate, up]);
        watch(Stop::Gate, gate);
        watch(Stop::Up, up);
        recorded::gated(gate, up, self.activation);
        watch(Stop::Gated, gate);
        linear([&self.down], gate, rows, [y]);
    }
}
