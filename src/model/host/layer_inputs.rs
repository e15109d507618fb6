//! Per-layer embeddings on the CPU.

use super::{Linear, add, embedding, linear};
use crate::kernels::{Panels, recorded};
use crate::model::adapted::Rows;
use crate::model::layer_inputs::{LayerInput, LayerInputs};

impl LayerInputs<Linear, Vec<f32>, Panels> {
    /// The vectors of all layers for each token, `[seq, layers * width]`: its own, and what its embedding in the
    /// model, `[seq, d_model]`, becomes.
    pub(super) fn forward(&self, row: &[u32], embeddings: &[f32]) -> Vec<f32> {
        let seq = row.len();
        let of_model = ((embeddings.len() / seq) as f64).powf(-0.5) as f32;
        let of_token = (self.width as f64).sqrt() as f32;
        let mut all = Vec::new();
        linear([&self.per_layer_model_projection], embeddings, &Rows::plain(seq), [&mut all]);
        all.iter_mut().for_each(|x| *x *= of_model);
        self.per_layer_projection_norm.apply(&mut all);
        for (x, own) in all.iter_mut().zip(embedding(&self.embed_tokens_per_layer, row)) {
            *x = (*x + own * of_token) * 0.5f32.sqrt();
        }
        all
    }
}

impl LayerInput<Linear, Vec<f32>> {
    /// Adds to `x`, `[seq, d_model]`, what the layer makes of its vectors: `inputs` are those of all layers, of which
    /// this is one.
    pub(super) fn forward(&self, x: &mut [f32], seq: usize, inputs: &[f32], index: usize) {
        let (mut gate, mut added) = (Vec::new(), Vec::new());
        linear([&self.per_layer_input_gate], x, &Rows::plain(seq), [&mut gate]);
        let width = gate.len() / seq;
        let rows = inputs.chunks_exact(inputs.len() / seq);
        let own = rows.flat_map(|row| &row[index * width..][..width]).copied();
        recorded::gated(&mut gate, &own.collect::<Vec<_>>(), self.activation);
        linear([&self.per_layer_projection], &gate, &Rows::plain(seq), [&mut added]);
        self.post_per_layer_input_norm.apply(&mut added);
        add(x, &added);
    }
}
