//! Latent attention (MLA): keys and values of all heads come from one short vector of each position, and one
//! part of each key is the same in all heads (DeepSeek-V2, arXiv 2405.04434).
//!
//! This is the expanded form: what attention reads, and what is kept, are the keys and values of each head. On the CPU
//! there is an absorbed one, which keeps the latents.

use burn::module::Module;
use burn::tensor::{Tensor, s};

use super::attention::{Place, merge_heads, split_heads};
use super::config::{LatentConfig, LlamaConfig, ModelConfig};
use super::linear::Linear;
use super::norm::RmsNorm;
use super::pass::Pass;
use super::rope::{Rotation, turned};
use super::source::{LoadLinear, LoadVector, Role, Source};
use crate::error::Result;

/// What makes keys and values of latent vectors, in a checkpoint.
pub(super) const UP: &str = "kv_b_proj";

/// Latent attention. Its fields are named as in a Hugging Face checkpoint.
#[derive(Module, Debug)]
pub struct LatentAttention {
    /// None where queries are made from the hidden states themselves.
    q_a_proj: Option<Linear>,
    q_a_layernorm: Option<RmsNorm>,
    /// From the hidden states, or from what `q_a_proj` makes of them.
    q_b_proj: Linear,
    /// The vector of a position, and the part of its keys that all heads share: `[rank + rotated, d_model]`.
    kv_a_proj_with_mqa: Linear,
    kv_a_layernorm: RmsNorm,
    /// For each head the rest of its key, and its value.
    kv_b_proj: Linear,
    pub(super) o_proj: Linear,
    #[module(skip)]
    shape: HeadShape,
    #[module(skip)]
    pub(super) place: Place,
}

/// The parts of a head. What is rotated comes first here, as it does for [`Rotation`]; in a checkpoint it comes
/// last. For a product of a query and a key their order does not matter.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeadShape {
    pub(super) n_heads: usize,
    /// Of a query or a key.
    pub(super) head_dim: usize,
    /// How many of these are rotated.
    pub(super) rotated: usize,
    /// Of a value, which is kept as one of `head_dim`: zeros follow it.
    pub(super) value_dim: usize,
    /// The length of the latent vector.
    pub(super) rank: usize,
    /// Whether a checkpoint has the two numbers of a pair next to each other.
    pub(super) interleaved: bool,
}

impl HeadShape {
    pub(super) fn of(config: &ModelConfig, llama: &LlamaConfig, latent: &LatentConfig) -> Self {
        let rope = llama.layers[0].rope.as_ref();
        let &ModelConfig { n_heads, head_dim, .. } = config;
        Self {
            n_heads,
            head_dim,
            rotated: rope.and_then(|rope| rope.rotated).unwrap_or(head_dim),
            value_dim: latent.value_dim,
            rank: latent.rank,
            interleaved: latent.interleaved,
        }
    }

    /// How much of a query or a key is not rotated.
    pub(super) fn plain(self) -> usize {
        self.head_dim - self.rotated
    }

    /// Where a checkpoint has number `i` of what is rotated.
    pub(super) fn stored_at(self, i: usize) -> usize {
        let half = self.rotated / 2;
        if self.interleaved {
            i % half * 2 + i / half
        } else {
            i
        }
    }
}

/// The parts of latent attention that are the same in both forms.
#[derive(Debug)]
pub(super) struct Parts<L, V> {
    pub(super) query_down: Option<(L, RmsNorm<V>)>,
    pub(super) query_up: L,
    pub(super) down: L,
    pub(super) norm: RmsNorm<V>,
    pub(super) output: L,
}

impl<L: LoadLinear, V: LoadVector> Parts<L, V> {
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        (config, llama, latent): (&ModelConfig, &LlamaConfig, &LatentConfig),
    ) -> Result<Self> {
        /// The epsilon of the norms of the latent vectors. transformers has it from no file.
        const EPS: f64 = 1e-6;
        let linear = |part: &str, shape, bias| {
            L::load(weights, &format!("{name}.{part}"), shape, Role::Layer, bias)
        };
        let norm =
            |part: &str, length| RmsNorm::load(weights, &format!("{name}.{part}"), length, EPS);
        let shape = HeadShape::of(config, llama, latent);
        let HeadShape { n_heads, head_dim, rotated, value_dim, rank, .. } = shape;
        let (d_model, bias) = (config.d_model, llama.qkv_bias);
        let d_q = n_heads * head_dim;
        let (query_down, query_up) = match latent.query_rank {
            Some(rank) => {
                let down = linear("q_a_proj", [rank, d_model], bias)?;
                let norm = norm("q_a_layernorm", rank)?;
                (Some((down, norm)), linear("q_b_proj", [d_q, rank], false)?)
            }
            None => (None, linear("q_proj", [d_q, d_model], false)?),
        };
        Ok(Self {
            query_down,
            query_up,
            down: linear("kv_a_proj_with_mqa", [rank + rotated, d_model], bias)?,
            norm: norm("kv_a_layernorm", rank)?,
            output: linear("o_proj", [d_model, n_heads * value_dim], llama.o_bias)?,
        })
    }
}

/// Latent attention, in one of its forms.
pub trait LoadLatent: Sized {
    /// That of layer `index`, from the tensors in `name`.
    ///
    /// # Errors
    /// As [`Source::matrix`].
    fn load(
        weights: &dyn Source,
        name: &str,
        place: (&ModelConfig, &LlamaConfig, usize),
        latent: &LatentConfig,
    ) -> Result<Self>;
}

impl LoadLatent for LatentAttention {
    fn load(
        weights: &dyn Source,
        name: &str,
        (config, llama, index): (&ModelConfig, &LlamaConfig, usize),
        latent: &LatentConfig,
    ) -> Result<Self> {
        let parts = Parts::load(weights, name, (config, llama, latent))?;
        let (q_a_proj, q_a_layernorm) = parts.query_down.unzip();
        let shape = HeadShape::of(config, llama, latent);
        let HeadShape { n_heads, value_dim, rank, .. } = shape;
        let role = Role::KeysAndValues { heads: n_heads, plain: shape.plain() };
        let rows = n_heads * (shape.plain() + value_dim);
        let up = format!("{name}.{UP}");
        Ok(Self {
            q_a_proj,
            q_a_layernorm,
            q_b_proj: parts.query_up,
            kv_a_proj_with_mqa: parts.down,
            kv_a_layernorm: parts.norm,
            kv_b_proj: Linear::load(weights, &up, [rows, rank], role, false)?,
            o_proj: parts.output,
            shape,
            place: Place::of(config, llama, index),
        })
    }
}

impl LatentAttention {
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    pub(super) fn forward(
        &self,
        x: Tensor<3>,
        rotations: &[Rotation],
        pass: &mut Pass<'_>,
    ) -> Tensor<3> {
        let [q, k, v] = self.projected(x);
        let Place { layer, scoring, .. } = self.place;
        let [q, k] = turned([q, k], [&None, &None], self.place.rotation(rotations));
        self.output(pass.attend(layer, [q, k, v], scoring, None))
    }

    /// The queries, keys and values of a hidden state, before they are rotated:
    /// `[batch, seq, n_heads, head_dim]` each.
    pub(super) fn projected(&self, x: Tensor<3>) -> [Tensor<4>; 3] {
        let HeadShape { n_heads, head_dim, value_dim, rank, .. } = self.shape;
        let plain = self.shape.plain();
        let from = match (&self.q_a_proj, &self.q_a_layernorm) {
            (Some(down), Some(norm)) => norm.forward(down.forward(x.clone())),
            _ => x.clone(),
        };
        let q = split_heads(self.q_b_proj.forward(from), head_dim);
        let q = Tensor::cat(
            vec![
                self.ordered(q.clone().slice(s![.., .., .., plain..])),
                q.slice(s![.., .., .., ..plain]),
            ],
            3,
        );

        let all = self.kv_a_proj_with_mqa.forward(x);
        let shared = split_heads(all.clone().slice(s![.., .., rank..]), head_dim - plain);
        let latent = self.kv_a_layernorm.forward(all.slice(s![.., .., ..rank]));
        let kv = split_heads(self.kv_b_proj.forward(latent), plain + value_dim);
        let [batch, seq, _, _] = kv.dims();
        let shared = self.ordered(shared).expand([batch, seq, n_heads, head_dim - plain]);
        let k = Tensor::cat(vec![shared, kv.clone().slice(s![.., .., .., ..plain])], 3);
        let v = kv.slice(s![.., .., .., plain..]);
        let zeros = v.clone().slice(s![.., .., .., ..1]).zeros_like();
        let zeros = zeros.repeat_dim(3, head_dim - value_dim);
        let v = if head_dim > value_dim {
            Tensor::cat(vec![v, zeros], 3)
        } else {
            v
        };
        [q, k, v]
    }

    /// What is rotated, in the order of [`Rotation`]: `[batch, seq, heads, rotated]`.
    fn ordered(&self, x: Tensor<4>) -> Tensor<4> {
        if !self.shape.interleaved {
            return x;
        }
        let [batch, seq, heads, rotated] = x.dims();
        let pairs = x.reshape([batch, seq, heads, rotated / 2, 2]);
        pairs.swap_dims(3, 4).reshape([batch, seq, heads, rotated])
    }

    /// What attention adds: `[batch, seq, n_heads, head_dim]` -> `[batch, seq, d_model]`.
    pub(super) fn output(&self, mixed: Tensor<4>) -> Tensor<3> {
        let values = mixed.slice(s![.., .., .., ..self.shape.value_dim]);
        self.o_proj.forward(merge_heads(values))
    }
}
