//! Attention to the keys and values of an earlier layer: one that has only queries (Gemma 3n).

use burn::module::Module;
use burn::tensor::Tensor;

use super::attention::{Place, merge_heads, split_heads};
use super::config::{LlamaConfig, ModelConfig};
use super::linear::Linear;
use super::norm::RmsNorm;
use super::pass::Pass;
use super::rope::{Rotation, normed, turned};
use super::source::{LoadLinear, Role, Source};
use crate::error::Result;

/// Attention without keys and values of its own. Its fields are named as in a Hugging Face checkpoint.
#[derive(Module, Debug)]
pub struct SharedAttention {
    q_proj: Linear,
    pub(super) o_proj: Linear,
    q_norm: Option<RmsNorm>,
    head_dim: usize,
    #[module(skip)]
    pub(super) place: Place,
}

impl SharedAttention {
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        (config, llama, index): (&ModelConfig, &LlamaConfig, usize),
    ) -> Result<Self> {
        let (d_model, head_dim) = (config.d_model, config.kv_heads(index).head_dim);
        let d_q = config.n_heads * head_dim;
        let linear = |part: &str, shape, bias| {
            Linear::load(weights, &format!("{name}.{part}"), shape, Role::Layer, bias)
        };
        let norm =
            |length| RmsNorm::load_in(weights, &format!("{name}.q_norm"), length, config, llama);
        Ok(Self {
            q_proj: linear("q_proj", [d_q, d_model], llama.qkv_bias)?,
            o_proj: linear("o_proj", [d_model, d_q], llama.o_bias)?,
            q_norm: llama.qk_norm_length(config.n_heads, head_dim).map(norm).transpose()?,
            head_dim,
            place: Place::of(config, llama, index),
        })
    }

    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    pub(super) fn forward(
        &self,
        x: Tensor<3>,
        rotations: &[Rotation],
        pass: &mut Pass<'_>,
    ) -> Tensor<3> {
        let Place { layer, scoring, .. } = self.place;
        let q = self.queries(x);
        // What rotates queries rotates keys with them: here there are none.
        let norms = [&self.q_norm, &self.q_norm];
        let [q, _] = turned([q.clone(), q], norms, self.place.rotation(rotations));
        let [k, v] = pass.kept(layer);
        // Both are written once more to where they are.
        self.output(pass.attend(layer, [q, k, v], scoring, None))
    }

    /// `[batch, seq, d_model]` -> `[batch, seq, n_heads, head_dim]`
    fn queries(&self, x: Tensor<3>) -> Tensor<4> {
        split_heads(self.q_proj.forward(x), self.head_dim)
    }

    /// The queries of a hidden state after their norm, and the keys and values of the earlier layer, whose keys are
    /// rotated: `[batch, seq, heads, head_dim]` each.
    pub(super) fn projected(&self, x: Tensor<3>, pass: &Pass<'_>) -> [Tensor<4>; 3] {
        let [k, v] = pass.kept(self.place.layer);
        let [q, k] = normed([&self.q_norm, &None], [self.queries(x), k]);
        [q, k, v]
    }

    /// What attention adds: `[batch, seq, n_heads, head_dim]` -> `[batch, seq, d_model]`.
    pub(super) fn output(&self, mixed: Tensor<4>) -> Tensor<3> {
        self.o_proj.forward(merge_heads(mixed))
    }
}
