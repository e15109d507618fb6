//! Attention: where each position looks back at the others.

use burn::module::Module;
use burn::tensor::{Bool, DType, Device, Tensor, activation::softmax};

use super::config::{LlamaConfig, ModelConfig};
use super::context::Context;
use super::linear::{self, Linear};
use super::norm::RmsNorm;
use super::rope::Rotation;
use super::weights::Weights;
use crate::error::Result;

/// Grouped-query attention: several query heads share one key/value head (Ainslie et al.,
/// arXiv 2305.13245). With as many key/value heads as query heads it is plain multi-head
/// attention, with one it is multi-query attention.
#[derive(Module, Debug)]
pub struct Attention {
    q_proj: Linear,
    k_proj: Linear,
    v_proj: Linear,
    o_proj: Linear,
    q_norm: Option<RmsNorm>,
    k_norm: Option<RmsNorm>,
    head_dim: usize,
}

impl Attention {
    pub(super) fn load(
        weights: &Weights<'_>,
        name: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
    ) -> Result<Self> {
        let d_model = config.d_model;
        let d_q = config.n_heads * config.head_dim;
        let d_kv = config.n_kv_heads * config.head_dim;
        let linear =
            |part: &str, shape, bias| Linear::load(weights, &format!("{name}.{part}"), shape, bias);
        let norm = |part: &str| match llama.qk_norm {
            false => Ok(None),
            true => {
                let name = format!("{name}.{part}");
                RmsNorm::load(weights, &name, config.head_dim, config.norm_eps).map(Some)
            }
        };
        Ok(Self {
            q_proj: linear("q_proj", [d_q, d_model], llama.qkv_bias)?,
            k_proj: linear("k_proj", [d_kv, d_model], llama.qkv_bias)?,
            v_proj: linear("v_proj", [d_kv, d_model], llama.qkv_bias)?,
            o_proj: linear("o_proj", [d_model, d_q], llama.o_bias)?,
            q_norm: norm("q_norm")?,
            k_norm: norm("k_norm")?,
            head_dim: config.head_dim,
        })
    }

    // ANCHOR: forward
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    ///
    /// `rotation` is that of the positions of `x`; `context` says what they may look at, and
    /// keeps the keys and values of this `layer`.
    pub fn forward(
        &self,
        x: Tensor<3>,
        rotation: &Rotation,
        layer: usize,
        context: &mut Context<'_>,
    ) -> Tensor<3> {
        let [q, k, v] = linear::forward_all([&self.q_proj, &self.k_proj, &self.v_proj], x)
            .map(|x| split_heads(x, self.head_dim));
        let q = rotation.apply(normed(&self.q_norm, q));
        let k = rotation.apply(normed(&self.k_norm, k));

        let mixed = context.attend(layer, q, k, v);
        self.o_proj.forward(merge_heads(mixed))
    }
    // ANCHOR_END: forward
}

fn normed(norm: &Option<RmsNorm>, x: Tensor<4>) -> Tensor<4> {
    match norm {
        Some(norm) => norm.forward(x),
        None => x,
    }
}

/// `[batch, seq, heads * head_dim]` -> `[batch, heads, seq, head_dim]`
pub fn split_heads(x: Tensor<3>, head_dim: usize) -> Tensor<4> {
    let [batch, seq, width] = x.dims();
    x.reshape([batch, seq, width / head_dim, head_dim]).swap_dims(1, 2)
}

/// `[batch, heads, seq, head_dim]` -> `[batch, seq, heads * head_dim]`
pub fn merge_heads(x: Tensor<4>) -> Tensor<3> {
    let [batch, heads, seq, head_dim] = x.dims();
    x.swap_dims(1, 2).reshape([batch, seq, heads * head_dim])
}

// ANCHOR: attend
/// The mean of the values, weighted by how well each key fits the query.
///
/// `q` is `[batch, n_heads, seq, head_dim]`; `k` and `v` are `[batch, n_kv_heads, total,
/// head_dim]`; `mask` is `[seq, total]`, true where looking is forbidden. Returns
/// `[batch, n_heads, seq, head_dim]`.
///
/// Keys and values are not repeated for the query heads that share them. The queries of a
/// group are laid below each other instead, as if they were more positions.
pub fn attend(
    q: Tensor<4>,
    k: Tensor<4>,
    v: Tensor<4>,
    mask: Option<&Tensor<2, Bool>>,
) -> Tensor<4> {
    let [batch, n_heads, seq, head_dim] = q.dims();
    let [_, n_kv_heads, total, _] = k.dims();
    let group = n_heads / n_kv_heads;
    let dtype = q.dtype();

    let q = q * (head_dim as f64).powf(-0.5);
    let q = q.reshape([batch, n_kv_heads, group * seq, head_dim]);
    let scores = q.matmul(k.transpose()); // [batch, n_kv_heads, group * seq, total]

    let scores = match mask {
        None => scores,
        Some(mask) => {
            let grouped = scores.reshape([batch, n_kv_heads, group, seq, total]);
            let mask = mask.clone().unsqueeze::<5>(); // [1, 1, 1, seq, total]
            let hidden = grouped.mask_fill(mask, f32::NEG_INFINITY);
            hidden.reshape([batch, n_kv_heads, group * seq, total])
        }
    };
    let weights = softmax(scores.cast(DType::F32), 3).cast(dtype);
    weights.matmul(v).reshape([batch, n_heads, seq, head_dim])
}
// ANCHOR_END: attend

// ANCHOR: causal_mask
/// `[seq, start + seq]`: true above the diagonal that ends in the lower right corner, where a
/// position would look at a later one. One new position may look at everything, so it needs
/// no mask.
pub fn causal_mask(seq: usize, start: usize, device: &Device) -> Option<Tensor<2, Bool>> {
    (seq > 1).then(|| Tensor::tril_mask([seq, start + seq], start as i64, device))
}
// ANCHOR_END: causal_mask
