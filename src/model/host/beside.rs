//! A feed-forward network with experts beside it, on the CPU.

use super::experts::Experts;
use super::gated::{Gated, GatedScratch};
use super::llama::RmsNorm;
use super::{Watch, add};
use crate::error::Result;
use crate::model::adapted::Rows;
use crate::model::beside::{NORMS, ROUTER_SCALE};
use crate::model::config::{self, LlamaConfig, ModelConfig};
use crate::model::source::{Role, Source};

/// As [`beside`](crate::model::beside) defines it.
#[derive(Debug)]
pub(super) struct Beside {
    pub(super) dense: Gated,
    experts: Experts,
    dense_output_norm: RmsNorm,
    experts_norm: RmsNorm,
    experts_output_norm: RmsNorm,
    router_norm: RmsNorm,
}

impl Beside {
    pub(super) fn load(
        weights: &dyn Source,
        layer: &str,
        (config, llama): (&ModelConfig, &LlamaConfig),
        experts: &config::Experts,
        dense: Gated,
    ) -> Result<Self> {
        let d_model = config.d_model;
        let norm =
            |name: &str| RmsNorm::load(weights, &format!("{layer}.{name}"), d_model, config, llama);
        let experts = Experts::load(weights, layer, config, experts)?;
        let scale = (d_model as f64).powf(-0.5) as f32;
        let router = format!("{layer}.{ROUTER_SCALE}");
        let router = weights.numbers(&router, d_model, Role::Layer);
        Ok(Self {
            dense,
            experts,
            dense_output_norm: norm(NORMS[0])?,
            experts_norm: norm(NORMS[1])?,
            experts_output_norm: norm(NORMS[2])?,
            router_norm: RmsNorm {
                weight: router?.iter().map(|weight| weight * scale).collect(),
                eps: config.norm_eps as f32,
            },
        })
    }

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
