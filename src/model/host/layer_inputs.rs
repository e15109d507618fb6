//! Per-layer embeddings on the CPU.

use super::llama::RmsNorm;
use super::{Linear, add, embedding, linear};
use crate::activation::Activation;
use crate::error::Result;
use crate::kernels::{Panels, recorded};
use crate::model::adapted::Rows;
use crate::model::config::{LayerEmbedding, LlamaConfig, ModelConfig};
use crate::model::source::{Role, Source};

/// As [`layer_inputs`](crate::model::layer_inputs) defines them.
#[derive(Debug)]
pub(super) struct LayerInputs {
    tokens: Panels,
    of_model: Linear,
    norm: RmsNorm,
}

impl LayerInputs {
    /// None in a model without. `prefix` stands before the names.
    pub(super) fn load(
        weights: &dyn Source,
        prefix: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
    ) -> Result<Option<Self>> {
        let Some(LayerEmbedding { tokens, width }) = llama.layer_embedding else {
            return Ok(None);
        };
        let name = |part: &str| format!("{prefix}{part}");
        let (all, projection) = (config.n_layers * width, name("per_layer_model_projection"));
        let (table, norm) =
            (name("embed_tokens_per_layer.weight"), name("per_layer_projection_norm"));
        Ok(Some(Self {
            tokens: weights.panels(&table, [tokens, all], Role::Embedding)?,
            of_model: {
                let shape = [all, config.d_model];
                Linear::load(weights, &projection, shape, Role::Layer, false)?
            },
            norm: RmsNorm::load(weights, &norm, width, config, llama)?,
        }))
    }

    /// The vectors of all layers for each token, `[seq, layers * width]`: its own, and what its embedding in the
    /// model, `[seq, d_model]`, becomes.
    pub(super) fn forward(&self, row: &[u32], embeddings: &[f32]) -> Vec<f32> {
        let (seq, width) = (row.len(), self.norm.weight.len());
        let of_model = ((embeddings.len() / seq) as f64).powf(-0.5) as f32;
        let of_token = (width as f64).sqrt() as f32;
        let mut all = Vec::new();
        linear([&self.of_model], embeddings, &Rows::plain(seq), [&mut all]);
        all.iter_mut().for_each(|x| *x *= of_model);
        self.norm.apply(&mut all);
        for (x, own) in all.iter_mut().zip(embedding(&self.tokens, row)) {
            *x = (*x + own * of_token) * 0.5f32.sqrt();
        }
        all
    }
}

/// What a layer makes of its vectors.
#[derive(Debug)]
pub(super) struct LayerInput {
    gate: Linear,
    output: Linear,
    norm: RmsNorm,
    activation: Activation,
}

impl LayerInput {
    /// None in a model without. `layer` stands before the names.
    pub(super) fn load(
        weights: &dyn Source,
        layer: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
    ) -> Result<Option<Self>> {
        let Some(LayerEmbedding { width, .. }) = llama.layer_embedding else {
            return Ok(None);
        };
        let (d_model, name) = (config.d_model, |part: &str| format!("{layer}.{part}"));
        let linear =
            |part: &str, shape| Linear::load(weights, &name(part), shape, Role::Layer, false);
        let norm = name("post_per_layer_input_norm");
        Ok(Some(Self {
            gate: linear("per_layer_input_gate", [width, d_model])?,
            output: linear("per_layer_projection", [d_model, width])?,
            norm: RmsNorm::load(weights, &norm, d_model, config, llama)?,
            activation: config.activation,
        }))
    }

    /// Adds to `x`, `[seq, d_model]`, what the layer makes of its vectors: `inputs` are those of all layers, of which
    /// this is one.
    pub(super) fn forward(&self, x: &mut [f32], seq: usize, inputs: &[f32], index: usize) {
        let (mut gate, mut added) = (Vec::new(), Vec::new());
        linear([&self.gate], x, &Rows::plain(seq), [&mut gate]);
        let width = gate.len() / seq;
        let rows = inputs.chunks_exact(inputs.len() / seq);
        let own = rows.flat_map(|row| &row[index * width..][..width]).copied();
        recorded::gated(&mut gate, &own.collect::<Vec<_>>(), self.activation);
        linear([&self.output], &gate, &Rows::plain(seq), [&mut added]);
        self.norm.apply(&mut added);
        add(x, &added);
    }
}
