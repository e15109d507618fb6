//! What a pass computes on its way: what each position attends to, and every number of one token.

use burn::tensor::{Int, Tensor, TensorData, s};

use super::attend::{attention_weights, causal_mask};
use super::attention::{merge_heads, split_heads};
use super::decoder::{Block, Decoder};
use super::pass::Pass;
use super::residual::residual;
use super::rope::{Rope, Rotation};
use super::{Input, Logits, Model, linear, row_of, to_host};
use crate::error::Result;

/// What becomes of the last token of a text, from its embedding to the logits. Keys and values are those
/// of this token; the earlier ones take part in `weights` and `mixed`.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// `[d_model]`
    pub embedding: Vec<f32>,
    pub layers: Vec<LayerTrace>,
    /// `[d_model]`, after the last norm.
    pub norm: Vec<f32>,
    /// `[vocab]`
    pub logits: Vec<f32>,
}

/// The stops within a block.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerTrace {
    /// `[d_model]`, normed.
    pub attention_input: Vec<f32>,
    /// `[n_heads * head_dim]`, before RoPE.
    pub query: Vec<f32>,
    /// `[n_kv_heads * head_dim]`, before RoPE.
    pub key: Vec<f32>,
    /// `[n_kv_heads * head_dim]`
    pub value: Vec<f32>,
    pub rotated_query: Vec<f32>,
    pub rotated_key: Vec<f32>,
    /// `[n_heads][seq]`: how much of each value each head takes up.
    pub weights: Vec<Vec<f32>>,
    /// `[n_heads * head_dim]`: the values, times the weights.
    pub mixed: Vec<f32>,
    /// `[d_model]`: what attention adds.
    pub attention: Vec<f32>,
    /// `[d_model]`: the sum.
    pub after_attention: Vec<f32>,
    /// `[d_model]`, normed.
    pub feed_forward_input: Vec<f32>,
    /// `[d_ff]`
    pub gate: Vec<f32>,
    /// `[d_ff]`
    pub up: Vec<f32>,
    /// `[d_ff]`: the activated gate, times `up`.
    pub gated: Vec<f32>,
    /// `[d_model]`: what the feed-forward network adds.
    pub feed_forward: Vec<f32>,
    /// `[d_model]`: the sum, which the next block reads.
    pub output: Vec<f32>,
}

impl Model {
    /// What each position of a text attends to: for every layer and head, `[seq, seq]` weights, where
    /// each row is a position and sums to 1.
    ///
    /// This runs the whole network over the text. Weights are computed from its queries and keys in
    /// Burn's operations, as where no kernel serves: they may differ from the kernel's in the last
    /// digits.
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn attention(&self, ids: &[u32]) -> Result<Vec<Vec<Vec<Vec<f32>>>>> {
        self.check_prompt(ids)?;
        self.cpu.enter(|| {
            let inputs = [Input::whole(ids).with_logits(Logits::None)];
            let mut caches = self.caches_for_whole(&inputs)?;
            let mut pass = Pass::new(&self.device);
            pass.push(ids.len(), caches.first_mut());
            pass.keep_seen();
            let (row, wanted) = row_of(&inputs);
            self.rows(row, wanted, &mut pass, |hidden| hidden)?;
            let mask = causal_mask(ids.len(), 0, &self.device);
            let of_layer = |[q, k]: [Tensor<4>; 2]| {
                let [q, k] = [q, k].map(|x| x.swap_dims(1, 2)); // [1, heads, seq, head_dim]
                let weights = attention_weights(q, k, mask.as_ref());
                let rows =
                    to_host(weights.reshape([1, self.config.n_heads * ids.len(), ids.len()]))?;
                let rows: Vec<Vec<f32>> = rows.chunks(ids.len()).map(<[f32]>::to_vec).collect();
                Ok(rows.chunks(ids.len()).map(<[_]>::to_vec).collect())
            };
            pass.take_seen().into_iter().map(of_layer).collect()
        })
    }

    /// Follows the last token of a text through the network. None for a family whose blocks have other
    /// parts than those of Llama.
    ///
    /// Everything has the bits of [`forward`](Self::forward), but for the weights, which are computed
    /// as in [`attention`](Self::attention).
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn trace(&self, ids: &[u32]) -> Result<Option<Trace>> {
        self.check_prompt(ids)?;
        self.cpu.enter(|| {
            let inputs = [Input::whole(ids)];
            let mut caches = self.caches_for_whole(&inputs)?;
            let mut pass = Pass::new(&self.device);
            pass.push(ids.len(), caches.first_mut());
            let data = TensorData::new(row_of(&inputs).0, [1, ids.len()]);
            self.network.trace(Tensor::from_data(data, &self.device), &mut pass)
        })
    }
}

impl Decoder {
    /// As [`hidden_states`](Self::hidden_states) and [`logits`](Self::logits), with every number of the
    /// last token.
    pub(super) fn trace(
        &self,
        ids: Tensor<2, Int>,
        rope: &Rope,
        pass: &mut Pass<'_>,
    ) -> Result<Trace> {
        let rotation = rope.rotation(&pass.positions(), &ids.device());
        let mut x = self.embed_tokens.forward(ids);
        let embedding = last(&x)?;
        let mut layers = Vec::new();
        for (i, layer) in self.layers.iter().enumerate() {
            let (output, trace) = layer.trace(x, &rotation, i, pass)?;
            x = output;
            layers.push(trace);
        }
        let norm = self.norm.forward(x);
        Ok(Trace {
            embedding,
            layers,
            norm: last(&norm)?,
            logits: last(&self.logits(norm))?,
        })
    }
}

impl Block {
    /// As `forward`, part by part: `[1, seq, d_model]` -> the same shape.
    fn trace(
        &self,
        x: Tensor<3>,
        rotation: &Rotation,
        layer: usize,
        pass: &mut Pass<'_>,
    ) -> Result<(Tensor<3>, LayerTrace)> {
        let attention = &self.self_attn;
        let attention_input = self.input_layernorm.forward(x.clone());
        let projections = [&attention.q_proj, &attention.k_proj, &attention.v_proj];
        let [q, k, v] = linear::forward_all(projections, attention_input.clone())
            .map(|x| split_heads(x, attention.head_dim));
        let (q, k) = attention.norm_heads(q, k);
        let [rotated_q, rotated_k] = [&q, &k].map(|x| rotation.apply(x.clone()));
        let weights = weights_of_last(&rotated_q, &rotated_k)?;
        let mixed =
            merge_heads(pass.attend(layer, rotated_q.clone(), rotated_k.clone(), v.clone()));
        let attended = attention.o_proj.forward(mixed.clone());
        let after_attention = residual(x, attended.clone());

        let network = &self.mlp;
        let feed_forward_input = self.post_attention_layernorm.forward(after_attention.clone());
        let [gate, up] =
            linear::forward_all([&network.gate_proj, &network.up_proj], feed_forward_input.clone());
        let gated = network.activation.gated(gate.clone(), up.clone());
        let feed_forward = network.down_proj.forward(gated.clone());
        let output = residual(after_attention.clone(), feed_forward.clone());
        let trace = LayerTrace {
            attention_input: last(&attention_input)?,
            query: last(&merge_heads(q))?,
            key: last(&merge_heads(k))?,
            value: last(&merge_heads(v))?,
            rotated_query: last(&merge_heads(rotated_q))?,
            rotated_key: last(&merge_heads(rotated_k))?,
            weights,
            mixed: last(&mixed)?,
            attention: last(&attended)?,
            after_attention: last(&after_attention)?,
            feed_forward_input: last(&feed_forward_input)?,
            gate: last(&gate)?,
            up: last(&up)?,
            gated: last(&gated)?,
            feed_forward: last(&feed_forward)?,
            output: last(&output)?,
        };
        Ok((output, trace))
    }
}

/// What the last of `q`, `[1, seq, n_heads, head_dim]`, attends to: for each head, `[seq]` weights.
fn weights_of_last(q: &Tensor<4>, k: &Tensor<4>) -> Result<Vec<Vec<f32>>> {
    let [_, seq, n_heads, _] = q.dims();
    let q = q.clone().slice(s![.., seq - 1.., .., ..]);
    let [q, k] = [q, k.clone()].map(|x| x.swap_dims(1, 2)); // [1, heads, seq, head_dim]
    let weights = attention_weights(q, k, None).reshape([1, n_heads, seq]);
    Ok(to_host(weights)?.chunks(seq).map(<[f32]>::to_vec).collect())
}

/// The numbers of the last position of `[1, seq, width]`.
fn last(x: &Tensor<3>) -> Result<Vec<f32>> {
    let [_, seq, _] = x.dims();
    to_host(x.clone().slice(s![.., seq - 1.., ..]))
}
