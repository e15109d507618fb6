//! The queries, keys and values of latent attention on the CPU.

use super::llama::RmsNorm;
use super::{Linear, linear};
use crate::error::Result;
use crate::model::adapted::Rows;
use crate::model::config::{LatentConfig, LlamaConfig, ModelConfig};
use crate::model::latent::{EPS, HeadShape, Parts};
use crate::model::source::{Role, Source};

/// As [`latent`](crate::model::latent) defines them.
#[derive(Debug)]
pub(super) struct Latent {
    query_down: Option<(Linear, RmsNorm)>,
    query_up: Linear,
    down: Linear,
    norm: RmsNorm,
    up: Linear,
    shape: HeadShape,
}

impl Latent {
    /// The projections, and that of what attention adds.
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
        latent: &LatentConfig,
    ) -> Result<(Self, Linear)> {
        let parts = Parts::load(
            (config, llama, latent),
            |part, shape, (role, bias)| {
                Linear::load(weights, &format!("{name}.{part}"), shape, role, bias)
            },
            |part, length| {
                let weight = format!("{name}.{part}.weight");
                let weight = weights.numbers(&weight, length, Role::Layer)?;
                Ok(RmsNorm { weight, eps: EPS as f32 })
            },
        )?;
        let Parts { query_down, query_up, down, norm, up, output } = parts;
        let shape = HeadShape::of(config, llama, latent);
        Ok((Self { query_down, query_up, down, norm, up, shape }, output))
    }

    /// The linear layers that adapters can change.
    pub(super) fn linears(&mut self) -> Vec<&mut Linear> {
        let query_down = self.query_down.as_mut().map(|(linear, _)| linear);
        query_down.into_iter().chain([&mut self.query_up, &mut self.down, &mut self.up]).collect()
    }

    /// `x` is `[seq, d_model]`; each of the others becomes `[seq, n_heads * head_dim]`.
    pub(super) fn forward(&self, x: &[f32], rows: &Rows, [q, k, v]: [&mut Vec<f32>; 3]) {
        let HeadShape { head_dim, rotated, value_dim, rank, .. } = self.shape;
        let (plain, turn) = (self.shape.plain(), |i| self.shape.stored_at(i));
        let (mut latent, mut heads) = (Vec::new(), Vec::new());
        match &self.query_down {
            Some((down, norm)) => {
                linear([down], x, rows, [&mut latent]);
                norm.apply(&mut latent);
                linear([&self.query_up], &latent, rows, [&mut heads]);
            }
            None => linear([&self.query_up], x, rows, [&mut heads]),
        }
        for heads in [&mut *q, &mut *k, &mut *v] {
            heads.clear();
        }
        for head in heads.chunks_exact(head_dim) {
            q.extend((0..rotated).map(|i| head[plain + turn(i)]));
            q.extend_from_slice(&head[..plain]);
        }

        let mut all = Vec::new();
        linear([&self.down], x, rows, [&mut all]);
        let positions = || all.chunks_exact(rank + rotated);
        latent = positions().flat_map(|position| &position[..rank]).copied().collect();
        self.norm.apply(&mut latent);
        linear([&self.up], &latent, rows, [&mut heads]);
        for (heads, position) in heads.chunks_exact(heads.len() / rows.count).zip(positions()) {
            for head in heads.chunks_exact(plain + value_dim) {
                k.extend((0..rotated).map(|i| position[rank + turn(i)]));
                k.extend_from_slice(&head[..plain]);
                v.extend_from_slice(&head[plain..]);
                v.resize(v.len() + head_dim - value_dim, 0.0);
            }
        }
    }

    /// The values in what was mixed of them, `[seq, n_heads * head_dim]` -> `[seq, n_heads * value_dim]`.
    pub(super) fn values(&self, mixed: &[f32]) -> Vec<f32> {
        let heads = mixed.chunks_exact(self.shape.head_dim);
        heads.flat_map(|head| &head[..self.shape.value_dim]).copied().collect()
    }
}
