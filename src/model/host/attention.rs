//! Attention of the Llama family on the CPU.

use super::latent::Latent;
use super::llama::{Angles, RmsNorm, norm};
use super::{Linear, Stop, Watch, linear};
use crate::activation::Activation;
use crate::error::Result;
use crate::kernels::{Scoring, recorded};
use crate::model::attention::Place;
use crate::model::config::{KvHeads, KvSource, LlamaConfig, ModelConfig};
use crate::model::decoder::LoadAttention;
use crate::model::pass::Pass;
use crate::model::source::{LoadLinear, Role, Source, parts};

/// As [`attention`](crate::model::attention) defines it.
#[derive(Debug)]
pub(super) struct Attention {
    projections: Projections,
    output: Linear,
    /// Whether the projection of queries has a gate for what they take up, behind each head.
    has_gate: bool,
    head_dim: usize,
    query_norm: Option<RmsNorm>,
    key_norm: Option<RmsNorm>,
    value_norm: Option<RmsNorm>,
    /// `[n_heads]`, where heads have sinks.
    sinks: Option<Vec<f32>>,
    place: Place,
}

/// Where queries, keys and values come from.
#[derive(Debug)]
enum Projections {
    /// A matrix of each.
    Heads([Linear; 3]),
    /// One of queries, and one of keys, which are values too.
    Keys([Linear; 2]),
    /// One of queries: keys and values are those of an earlier layer.
    Queries(Linear),
    Latent(Latent),
}

impl LoadAttention for Attention {
    fn load(
        weights: &dyn Source,
        name: &str,
        config: &ModelConfig,
        llama: &LlamaConfig,
        index: usize,
    ) -> Result<Self> {
        let (d_model, source) = (config.d_model, llama.layer(index).source);
        let KvHeads { n_kv_heads, head_dim, .. } = config.kv_heads(index);
        let (d_q, d_kv) = (config.n_heads * head_dim, n_kv_heads * head_dim);
        let linear = |(part, role): (&str, Role), shape, bias| {
            Linear::load(weights, &format!("{name}.{part}"), shape, role, bias)
        };
        let qk_norm = |part: &str, heads| {
            let length = llama.qk_norm_length(heads, head_dim);
            let name = format!("{name}.{part}");
            let load = |length| RmsNorm::load_in(weights, &name, length, config, llama);
            length.map(load).transpose()
        };
        let whole = llama.fused.then_some("qkv_proj");
        let [q, k, v] = parts(["q_proj", "k_proj", "v_proj"], [d_q, d_kv, d_kv], whole);
        let sinks = || weights.numbers(&format!("{name}.sinks"), config.n_heads, Role::Layer);
        let (projections, output) = match &llama.latent {
            None => {
                let rows = d_q * if llama.attention_gate { 2 } else { 1 };
                let query = linear(q, [rows, d_model], llama.qkv_bias)?;
                let matrix = |place| linear(place, [d_kv, d_model], llama.qkv_bias);
                let projections = match source {
                    KvSource::Own => Projections::Heads([query, matrix(k)?, matrix(v)?]),
                    KvSource::Keys => Projections::Keys([query, matrix(k)?]),
                    KvSource::Layer(_) => Projections::Queries(query),
                };
                let output = linear(("o_proj", Role::Layer), [d_model, d_q], llama.o_bias)?;
                (projections, output)
            }
            Some(latent) => {
                let (latent, output) = Latent::load(weights, name, config, llama, latent)?;
                (Projections::Latent(latent), output)
            }
        };
        let has_keys = !matches!(source, KvSource::Layer(_));
        let key_norm = || qk_norm("k_norm", n_kv_heads).transpose();
        let value_norm = || RmsNorm::without_weights(weights, head_dim, config.norm_eps);
        Ok(Self {
            projections,
            output,
            has_gate: llama.attention_gate,
            head_dim,
            query_norm: qk_norm("q_norm", config.n_heads)?,
            key_norm: has_keys.then(key_norm).flatten().transpose()?,
            value_norm: (has_keys && llama.value_norm).then(value_norm),
            sinks: llama.sinks.then(sinks).transpose()?,
            place: Place::of(config, llama, index),
        })
    }
}

impl Attention {
    /// The linear layers that adapters can change.
    pub(super) fn linears(&mut self) -> Vec<&mut Linear> {
        let mut linears = match &mut self.projections {
            Projections::Heads(projections) => projections.iter_mut().collect(),
            Projections::Keys(projections) => projections.iter_mut().collect(),
            Projections::Queries(projection) => vec![projection],
            Projections::Latent(latent) => latent.linears(),
        };
        linears.push(&mut self.output);
        linears
    }

    // ANCHOR: forward
    /// What attention adds to `x`, `[seq, d_model]`. `angles` are those of all kinds of RoPE in the model.
    pub(super) fn forward(
        &self,
        x: &[f32],
        angles: &[Angles],
        pass: &mut Pass<'_>,
        [q, k, v]: &mut [Vec<f32>; 3],
        added: &mut Vec<f32>,
        watch: &mut Watch<'_>,
    ) {
        let rows = &pass.rows();
        match &self.projections {
            Projections::Heads(projections) => linear(projections.each_ref(), x, rows, [q, k, v]),
            Projections::Keys(projections) => {
                linear(projections.each_ref(), x, rows, [q, k]);
                v.clone_from(k);
            }
            Projections::Queries(projection) => {
                linear([projection], x, rows, [q]);
                pass.kept_numbers(self.place.layer, [k, v]);
            }
            Projections::Latent(latent) => {
                latent.forward(x, rows, [q, k]);
                v.clone_from(k);
            }
        }
        let mut gate = self.take_gate(q);
        norm(&self.query_norm, q);
        norm(&self.key_norm, k);
        norm(&self.value_norm, v);
        watch(Stop::Query, q);
        watch(Stop::Key, k);
        watch(Stop::Value, v);
        if let Some(angles) = self.place.rotation(angles) {
            angles.rotate(q, self.head_dim);
            if !matches!(self.projections, Projections::Queries(_)) {
                angles.rotate(k, self.head_dim); // those of an earlier layer are rotated
            }
            angles.grow(q);
        }
        if self.place.is_source {
            pass.keep_numbers(self.place.layer, [k, v]);
        }
        watch(Stop::RotatedQuery, q);
        watch(Stop::RotatedKey, k);
        let mixed = pass.attend_in_blocks(self.place.layer, q, k, v, self.scoring());
        watch(Stop::Mixed, &mixed);
        let mixed = match &self.projections {
            Projections::Latent(latent) => latent.values(&mixed, rows),
            _ if self.has_gate => {
                recorded::gated(&mut gate, &mixed, Activation::Sigmoid);
                gate
            }
            _ => mixed,
        };
        linear([&self.output], &mixed, rows, [added]);
    }
    // ANCHOR_END: forward

    /// Takes the gates out of what the projection of queries made, and leaves the queries.
    fn take_gate(&self, q: &mut Vec<f32>) -> Vec<f32> {
        if !self.has_gate {
            return Vec::new();
        }
        let heads = q.chunks_exact(2 * self.head_dim);
        let (queries, gates): (Vec<&[f32]>, Vec<&[f32]>) =
            heads.map(|head| head.split_at(self.head_dim)).unzip();
        let (queries, gates) = (queries.concat(), gates.concat());
        *q = queries;
        gates
    }

    /// How attention scores.
    pub(super) fn scoring(&self) -> Scoring<'_> {
        Scoring { sinks: self.sinks.as_deref(), ..self.place.scoring }
    }
}
