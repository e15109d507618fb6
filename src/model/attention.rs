//! Grouped-query attention, as in the Llama family.

use burn::module::{Module, Param};
use burn::tensor::activation::sigmoid;
use burn::tensor::{Tensor, s};

use super::config::{KvHeads, KvSource, LlamaConfig, ModelConfig, QkNorm};
use super::linear::Linear;
use super::norm::RmsNorm;
use super::pass::Pass;
use super::rope::{Rotation, normed, turned};
use super::source::{LoadLinear, LoadVector, Role, Source, parts};
use crate::error::Result;
use crate::kernels::Scoring;

/// Grouped-query attention: several query heads share one key/value head (Ainslie et al.,
/// arXiv 2305.13245). With as many key/value heads as query heads it is plain multi-head
/// attention, with one it is multi-query attention.
#[derive(Module, Debug)]
pub struct Attention<L = Linear, V = Param<Tensor<1>>> {
    pub(super) q_proj: L,
    /// None where keys and values are those of an earlier layer (Gemma 3n).
    pub(super) k_proj: Option<L>,
    /// None there, and where values are keys, before the norm and RoPE of these.
    pub(super) v_proj: Option<L>,
    pub(super) o_proj: L,
    pub(super) q_norm: Option<RmsNorm<V>>,
    pub(super) k_norm: Option<RmsNorm<V>>,
    pub(super) v_norm: Option<RmsNorm<V>>,
    /// `[n_heads]`, where heads have sinks.
    pub(super) sinks: Option<V>,
    pub(super) head_dim: usize,
    /// Whether the projection of queries has a gate for what they take up, behind each head.
    pub(super) has_gate: bool,
    #[module(skip)]
    pub(super) place: Place,
}

/// What attention of a layer is told by the configuration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// The number of the layer whose keys and values it reads, among those that have some.
    pub(super) layer: usize,
    /// Whether a later layer reads them too.
    pub(super) is_source: bool,
    pub(super) scoring: Scoring<'static>,
    /// Which of the rotations queries and keys take, if any.
    rope: Option<usize>,
}

impl Place {
    pub(super) fn of(config: &ModelConfig, llama: &LlamaConfig, index: usize) -> Self {
        Self {
            layer: llama.kv_layer(index),
            is_source: llama.is_source(index),
            scoring: llama.scoring(index, config.whole_heads(index).head_dim),
            rope: llama.rope_of(index),
        }
    }

    /// That of the layer, of the rotations or angles of all kinds of RoPE in the model.
    pub(super) fn rotation<'a, R>(&self, rotations: &'a [R]) -> Option<&'a R> {
        self.rope.map(|rope| &rotations[rope])
    }
}

impl LlamaConfig {
    /// How attention of layer `index` scores, in heads of this size.
    pub fn scoring(&self, index: usize, head_dim: usize) -> Scoring<'static> {
        let plain = Scoring::new(head_dim);
        Scoring {
            scale: self.attention_scale.map_or(plain.scale, |scale| scale as f32),
            softcap: self.attention_softcap.map(|cap| cap as f32),
            window: self.layer(index).window,
            sinks: None, // these are weights
        }
    }

    /// The length of the weights of a norm of queries or keys, `[heads * head_dim]`, where the model
    /// has these norms.
    pub(super) fn qk_norm_length(&self, heads: usize, head_dim: usize) -> Option<usize> {
        Some(match self.qk_norm? {
            QkNorm::Head => head_dim,
            QkNorm::Projection => heads * head_dim,
        })
    }
}

impl<L: LoadLinear, V: LoadVector> Attention<L, V> {
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
        layer: usize,
    ) -> Result<Self> {
        let d_model = config.d_model;
        let KvHeads { n_kv_heads, head_dim, .. } = config.whole_heads(layer);
        let (d_q, d_kv) = (config.n_heads * head_dim, n_kv_heads * head_dim);
        let linear = |(part, role): (&str, Role), shape, bias| {
            L::load(weights, &format!("{name}.{part}"), shape, role, bias)
        };
        let norm = |part: &str, heads| {
            let length = llama.qk_norm_length(heads, head_dim);
            let name = format!("{name}.{part}");
            let load = |length| RmsNorm::load_in(weights, &name, length, config, llama);
            length.map(load).transpose()
        };
        let sinks = || V::load(weights, &format!("{name}.sinks"), config.n_heads);
        let whole = llama.fused.then_some("qkv_proj");
        let [q, k, v] = parts(["q_proj", "k_proj", "v_proj"], [d_q, d_kv, d_kv], whole);
        let rows = d_q * if llama.attention_gate { 2 } else { 1 };
        let mut q_proj = linear(q, [rows, d_model], llama.qkv_bias)?;
        let source = llama.layer(layer).source;
        let has_keys = !matches!(source, KvSource::Layer(_));
        let matrix = |place| linear(place, [d_kv, d_model], llama.qkv_bias);
        let mut k_proj = has_keys.then(|| matrix(k)).transpose()?;
        let mut v_proj = (source == KvSource::Own).then(|| matrix(v)).transpose()?;
        match (&mut k_proj, &mut v_proj) {
            (Some(k_proj), Some(v_proj)) => L::join([&mut q_proj, k_proj, v_proj]),
            (Some(k_proj), None) => L::join([&mut q_proj, k_proj]),
            (None, _) => {}
        }
        let v_norm = || RmsNorm::without_weights(weights, head_dim, config.norm_eps);
        Ok(Self {
            q_proj,
            k_proj,
            v_proj,
            o_proj: linear(("o_proj", Role::Layer), [d_model, d_q], llama.o_bias)?,
            q_norm: norm("q_norm", config.n_heads)?,
            k_norm: has_keys.then(|| norm("k_norm", n_kv_heads)).transpose()?.flatten(),
            v_norm: (has_keys && llama.value_norm).then(v_norm),
            sinks: llama.sinks.then(sinks).transpose()?,
            head_dim,
            has_gate: llama.attention_gate,
            place: Place::of(config, llama, layer),
        })
    }
}

impl Attention {
    // ANCHOR: forward
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    ///
    /// `rotations` hold the RoPE angles of the positions of `x`, of each kind in the model; `pass` holds the
    /// KV caches.
    pub fn forward(&self, x: Tensor<3>, rotations: &[Rotation], pass: &mut Pass<'_>) -> Tensor<3> {
        let ([q, k, v], gate) = self.projected(x, pass);
        // Their norms, in models that have them, and RoPE.
        let [q, k] = self.turned([q, k], self.place.rotation(rotations));

        let Place { layer, is_source, scoring, .. } = self.place;
        if is_source {
            pass.keep(layer, [&k, &v]);
        }
        let mixed = pass.attend(layer, [q, k, v], scoring, self.sinks());
        self.output(mixed, gate)
    }
    // ANCHOR_END: forward

    /// The queries, keys and values of a hidden state, and the gate of what queries take up, where there is one:
    /// `[batch, seq, heads, head_dim]` each.
    pub(super) fn projected(
        &self,
        x: Tensor<3>,
        pass: &Pass<'_>,
    ) -> ([Tensor<4>; 3], Option<Tensor<4>>) {
        let [q, k, v] = match (&self.k_proj, &self.v_proj) {
            (Some(k_proj), Some(v_proj)) => Linear::each([&self.q_proj, k_proj, v_proj], x),
            (Some(k_proj), None) => {
                let [q, k] = Linear::each([&self.q_proj, k_proj], x);
                [q, k.clone(), k]
            }
            (None, _) => {
                let [k, v] = pass.kept(self.place.layer);
                return ([split_heads(self.q_proj.forward(x), self.head_dim), k, v], None);
            }
        };
        let [k, v] = [k, v].map(|x| split_heads(x, self.head_dim));
        let v = match &self.v_norm {
            Some(norm) => norm.forward(v),
            None => v,
        };
        if !self.has_gate {
            return ([split_heads(q, self.head_dim), k, v], None);
        }
        let both = split_heads(q, 2 * self.head_dim);
        let [q, gate] = [0, self.head_dim]
            .map(|first| both.clone().slice(s![.., .., .., first..first + self.head_dim]));
        ([q, k, v], Some(gate))
    }

    /// What attention adds, of what was mixed, `[batch, seq, n_heads, head_dim]` -> `[batch, seq, d_model]`.
    pub(super) fn output(&self, mixed: Tensor<4>, gate: Option<Tensor<4>>) -> Tensor<3> {
        let mixed = match gate {
            Some(gate) => mixed * sigmoid(gate),
            None => mixed,
        };
        self.o_proj.forward(merge_heads(mixed))
    }

    /// The sinks, `[n_heads]`, where heads have them.
    pub(super) fn sinks(&self) -> Option<Tensor<1>> {
        self.sinks.as_ref().map(Param::val)
    }

    /// Queries and keys after their norms and RoPE.
    fn turned(&self, [q, k]: [Tensor<4>; 2], rotation: Option<&Rotation>) -> [Tensor<4>; 2] {
        if self.k_proj.is_some() {
            return turned([q, k], [&self.q_norm, &self.k_norm], rotation);
        }
        // Those of an earlier layer are rotated. What rotates queries rotates keys with them: here there are none.
        let [q, _] = turned([q.clone(), q], [&self.q_norm, &self.q_norm], rotation);
        [q, k]
    }

    /// Queries and keys after their norms, where the model has these.
    pub(super) fn norm_heads(&self, qk: [Tensor<4>; 2]) -> [Tensor<4>; 2] {
        normed([&self.q_norm, &self.k_norm], qk)
    }
}

/// `[batch, seq, heads * head_dim]` -> `[batch, seq, heads, head_dim]`
pub fn split_heads(x: Tensor<3>, head_dim: usize) -> Tensor<4> {
    let [batch, seq, width] = x.dims();
    x.reshape([batch, seq, width / head_dim, head_dim])
}

/// `[batch, seq, heads, head_dim]` -> `[batch, seq, heads * head_dim]`
pub fn merge_heads(x: Tensor<4>) -> Tensor<3> {
    let [batch, seq, heads, head_dim] = x.dims();
    x.reshape([batch, seq, heads * head_dim])
}
