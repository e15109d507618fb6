//! GPT-2 on the CPU, as [`gpt2`](crate::model::gpt2) defines it.

use std::sync::Arc;

use super::{Linear, Stop, Watch, add, embedding, head, linear, numbered};
use crate::adapter::Sites;
use crate::error::Result;
use crate::kernels::{Panels, Scoring, recorded};
use crate::model::config::ModelConfig;
use crate::model::gpt2::{self, Block};
use crate::model::norm::LayerNorm;
use crate::model::pass::Pass;
use crate::model::source::Source;

/// A GPT-2.
#[derive(Debug)]
pub(in crate::model) struct Gpt2 {
    network: gpt2::Gpt2<Linear, Vec<f32>, Panels>,
    sites: Arc<Sites>,
}

/// The vectors of a block, `[seq, width]`. All blocks of a pass use the same memory.
#[derive(Default)]
struct Scratch {
    normed: Vec<f32>,
    /// `[seq, 3 * d_model]`
    qkv: Vec<f32>,
    up: Vec<f32>,
    /// What a part adds to the residual stream.
    added: Vec<f32>,
}

impl Gpt2 {
    pub(super) fn load(weights: &dyn Source, config: &ModelConfig) -> Result<Self> {
        let mut network = gpt2::Gpt2::load(weights, config)?;
        let sites = numbered(network.h.iter_mut().flat_map(Block::linears));
        Ok(Self { network, sites })
    }

    /// The linear layers that adapters can change.
    pub(super) fn sites(&self) -> &Arc<Sites> {
        &self.sites
    }

    /// The hidden states after the last norm, `[seq, d_model]`.
    pub(super) fn hidden_states(
        &self,
        row: &[u32],
        pass: &mut Pass<'_>,
        watch: &mut Watch<'_>,
    ) -> Vec<f32> {
        let mut x = embedding(&self.network.wte, row);
        let positions = &self.network.wpe.weight;
        add(&mut x, &recorded::embedding(positions, pass.positions().into_iter()));
        let mut scratch = Scratch::default();
        for (i, block) in self.network.h.iter().enumerate() {
            block.forward(&mut x, i, pass, &mut scratch, watch);
        }
        self.network.ln_f.apply(&mut x);
        x
    }

    /// The head: `[rows, d_model]` -> `[rows, vocab]`.
    pub(super) fn logits(&self, hidden: &[f32], rows: usize) -> Vec<f32> {
        head(&self.network.lm_head, &self.network.wte, hidden, rows)
    }
}

impl Block<Linear, Vec<f32>> {
    /// The linear layers that adapters can change.
    fn linears(&mut self) -> [&mut Linear; 4] {
        let Self { attn, mlp, .. } = self;
        [
            &mut attn.c_attn,
            &mut attn.c_proj,
            &mut mlp.c_fc,
            &mut mlp.c_proj,
        ]
    }

    /// Adds what attention and the feed-forward network compute to `x`, `[seq, d_model]`.
    fn forward(
        &self,
        x: &mut Vec<f32>,
        layer: usize,
        pass: &mut Pass<'_>,
        scratch: &mut Scratch,
        watch: &mut Watch<'_>,
    ) {
        let Scratch { normed, qkv, up, added } = scratch;
        let d_model = self.ln_1.weight.len();
        let rows = &pass.rows();

        normed.clone_from(x);
        self.ln_1.apply(normed);
        linear([&self.attn.c_attn], normed, rows, [qkv]);
        let [q, k, v] = [0, 1, 2].map(|part| {
            let rows = qkv.chunks_exact(3 * d_model);
            rows.flat_map(|row| &row[part * d_model..][..d_model]).copied().collect::<Vec<_>>()
        });
        watch(Stop::RotatedQuery, &q);
        watch(Stop::RotatedKey, &k);
        let scoring = Scoring::new(self.attn.head_dim);
        let mixed = pass.attend_in_blocks(layer, &q, &k, &v, scoring);
        linear([&self.attn.c_proj], &mixed, rows, [added]);
        add(x, added);

        normed.clone_from(x);
        self.ln_2.apply(normed);
        linear([&self.mlp.c_fc], normed, rows, [up]);
        recorded::activate(up, self.mlp.activation);
        linear([&self.mlp.c_proj], up, rows, [added]);
        add(x, added);
    }
}

impl LayerNorm<Vec<f32>> {
    /// Normalizes each vector of `[..., d]`.
    fn apply(&self, x: &mut [f32]) {
        recorded::layer_norm(x, &self.weight, &self.bias, self.eps as f32);
    }
}
