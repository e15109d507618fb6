//! Rotary position embedding (RoPE; Su et al., RoFormer, arXiv 2104.09864).

use std::f64::consts::TAU;
use std::ops::Range;

use burn::tensor::{DType, Device, Tensor, TensorData, s};

use super::config::{LayerConfig, LlamaConfig, ModelConfig, QueryGrowth, RopeConfig, RopeScaling};
use super::norm::RmsNorm;
#[cfg(feature = "cube")]
use crate::{cube::rope as on_gpu, device::has_cubes};

/// The rotation frequency of each pair of entries of a head.
///
/// Entry `i` of a head is paired with entry `i + head_dim / 2` (`rotate_half`, the layout of
/// Hugging Face checkpoints). Each position rotates the pair further by the angle
/// `theta^(-2i / head_dim)`. Where only the first `rotated` entries of a head are rotated, that number
/// takes the place of `head_dim`.
#[derive(Debug, Clone)]
pub struct Rope {
    /// Radians per position, `[rotated / 2]`.
    frequencies: Vec<f64>,
    /// What cosines and sines are multiplied by.
    factor: f64,
    query_growth: Option<QueryGrowth>,
}

/// The cosines and sines that rotate the queries and keys at some positions.
///
/// Always in f32: f16 cannot tell apart positions beyond 2,048.
#[derive(Debug, Clone)]
pub struct Rotation {
    /// The cosines, and then the sines: `[2, seq, rotated / 2]`. One tensor is one copy to the device.
    table: Tensor<3>,
    /// What queries are multiplied by besides, `[1, seq, 1, 1]`, where they grow with their position.
    growth: Option<Tensor<4>>,
}

impl Rope {
    /// The frequencies for heads of an even size.
    pub fn new(rope: &RopeConfig, head_dim: usize) -> Self {
        let rotated = rope.rotated.unwrap_or(head_dim);
        let frequency = |i: usize| libm::pow(rope.theta, -(2.0 * i as f64) / rotated as f64);
        let scaled = |i| scale(i, frequency(i), rope, rotated);
        Self {
            frequencies: (0..rotated / 2).map(scaled).collect(),
            factor: rope.attention_factor,
            query_growth: rope.query_growth,
        }
    }

    /// Radians per position, for each pair of a head: `[rotated / 2]`.
    pub fn frequencies(&self) -> &[f64] {
        &self.frequencies
    }

    /// The rotation for each of `positions`.
    pub fn rotation(&self, positions: &[usize], device: &Device) -> Rotation {
        let shape = [2, positions.len(), self.frequencies.len()];
        let table = TensorData::new(self.tables(positions).concat(), shape);
        let growth = self.growth(positions).map(|growth| {
            let growth = TensorData::new(growth, [1, positions.len(), 1, 1]);
            Tensor::from_data(growth, (device, DType::F32))
        });
        Rotation {
            table: Tensor::from_data(table, (device, DType::F32)),
            growth,
        }
    }

    /// The cosines and the sines of the angles at each of `positions`, both `[seq, rotated / 2]`.
    /// Angles are f64, with sines and cosines by `libm`, which gives the same bits on every machine.
    pub(super) fn tables(&self, positions: &[usize]) -> [Vec<f32>; 2] {
        [libm::cos, libm::sin].map(|of: fn(f64) -> f64| {
            let values = positions.iter().flat_map(|&position| {
                let angles = self.frequencies.iter().map(move |turn| position as f64 * turn);
                angles.map(move |angle| (of(angle) * self.factor) as f32)
            });
            values.collect()
        })
    }

    /// What the query at each of `positions` is multiplied by, `[seq]`, where queries grow.
    pub(super) fn growth(&self, positions: &[usize]) -> Option<Vec<f32>> {
        let QueryGrowth { beta, original_context } = self.query_growth?;
        let at = |&position: &usize| {
            let contexts = (position as f64 / original_context).floor();
            (1.0 + beta * libm::log(1.0 + contexts)) as f32
        };
        Some(positions.iter().map(at).collect())
    }
}

/// The frequencies of all layers: one set for each [`RopeConfig`] that a layer has.
#[derive(Debug, Clone)]
pub struct Ropes(Vec<Rope>);

impl LlamaConfig {
    /// The ways in which layers rotate queries and keys, each of them once.
    fn ropes(&self) -> Vec<Turns<'_>> {
        let mut ropes = Vec::new();
        for turns in self.layers.iter().filter_map(Turns::of) {
            if !ropes.contains(&turns) {
                ropes.push(turns);
            }
        }
        ropes
    }

    /// Which of the sets of [`Ropes`] layer `index` takes.
    pub(super) fn rope_of(&self, index: usize) -> Option<usize> {
        let turns = Turns::of(self.layer(index))?;
        self.ropes().iter().position(|other| *other == turns)
    }
}

/// How a layer rotates, and the heads that it rotates, where they are not those of the model.
#[derive(PartialEq)]
struct Turns<'a> {
    rope: &'a RopeConfig,
    head_dim: Option<usize>,
}

impl<'a> Turns<'a> {
    /// None for a layer without RoPE.
    fn of(layer: &'a LayerConfig) -> Option<Self> {
        let head_dim = layer.heads.map(|heads| heads.head_dim);
        Some(Self { rope: layer.rope.as_ref()?, head_dim })
    }
}

impl Ropes {
    /// The frequencies that the layers of a model take. Their number is that of the configuration: they are
    /// made once the weights were found to have its sizes.
    pub fn of(config: &ModelConfig, llama: &LlamaConfig) -> Self {
        let rope = |Turns { rope, head_dim }: Turns<'_>| {
            Rope::new(rope, head_dim.unwrap_or(config.head_dim))
        };
        Self(llama.ropes().into_iter().map(rope).collect())
    }

    /// The rotations for each of `positions`, one for each set.
    pub fn rotations(&self, positions: &[usize], device: &Device) -> Vec<Rotation> {
        self.iter().map(|rope| rope.rotation(positions, device)).collect()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Rope> {
        self.0.iter()
    }
}

/// Lowers the frequency of pair `i`, so that the angles of a longer context stay in the range of the
/// training context.
fn scale(i: usize, frequency: f64, rope: &RopeConfig, rotated: usize) -> f64 {
    match &rope.scaling {
        RopeScaling::None => frequency,
        RopeScaling::Linear { factor } => frequency / factor,
        &RopeScaling::Proportional { factor, pairs } => match i < pairs {
            true => frequency / factor,
            false => 0.0,
        },
        RopeScaling::Factors(factors) => frequency / f64::from(factors[i]),
        RopeScaling::Llama3 { factor, low_freq_factor, high_freq_factor, original_context } => {
            let turns = original_context * frequency / TAU; // in the original context
            let kept = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor);
            let kept = kept.clamp(0.0, 1.0);
            kept * frequency + (1.0 - kept) * frequency / factor
        }
        &RopeScaling::Yarn { factor, beta_fast, beta_slow, original_context, truncate } => {
            // The pair that turns so often in the original context.
            let pair = |turns: f64| {
                let ratio = original_context / (turns * TAU);
                rotated as f64 * libm::log(ratio) / (2.0 * libm::log(rope.theta))
            };
            let (mut low, mut high) = (pair(beta_fast), pair(beta_slow));
            if truncate {
                (low, high) = (low.floor(), high.ceil());
            }
            (low, high) = (low.max(0.0), high.min(rotated as f64 - 1.0));
            let width = if low == high { 0.001 } else { high - low };
            let kept = 1.0 - ((i as f64 - low) / width).clamp(0.0, 1.0);
            kept * frequency + (1.0 - kept) * frequency / factor
        }
    }
}

impl Rotation {
    /// By the cosines and sines of a table, `[2, seq, rotated / 2]`.
    #[cfg(feature = "cube")]
    pub(super) fn of(table: Tensor<3>) -> Self {
        Self { table, growth: None }
    }

    // ANCHOR: rotate
    /// Rotates queries or keys: `[batch, seq, heads, head_dim]` -> the same shape.
    pub fn apply(&self, x: Tensor<4>) -> Tensor<4> {
        let dtype = x.dtype();
        let (first, second, rest) = self.halves(x.cast(DType::F32));
        let part = |i: usize| self.table.clone().slice(s![i..=i, .., ..]).unsqueeze_dim::<4>(2);
        let (cos, sin) = (part(0), part(1)); // [1, seq, 1, rotated / 2]
        let turned_first = first.clone() * cos.clone() - second.clone() * sin.clone();
        let turned_second = second * cos + first * sin;
        let turned = [Some(turned_first), Some(turned_second), rest].into_iter().flatten();
        Tensor::cat(turned.collect(), 3).cast(dtype)
    }
    // ANCHOR_END: rotate

    /// Queries as they grow with their position, `[batch, seq, n_heads, head_dim]`.
    fn grown(&self, q: Tensor<4>) -> Tensor<4> {
        let dtype = q.dtype();
        match self.growth.clone() {
            Some(growth) => (q.cast(DType::F32) * growth).cast(dtype),
            None => q,
        }
    }

    /// The two halves of what is rotated, and the rest of each head.
    fn halves(&self, x: Tensor<4>) -> (Tensor<4>, Tensor<4>, Option<Tensor<4>>) {
        let ([_, _, half], [_, _, _, head_dim]) = (self.table.dims(), x.dims());
        let part = |entries: Range<usize>| x.clone().slice(s![.., .., .., entries]);
        let rest = (2 * half < head_dim).then(|| part(2 * half..head_dim));
        (part(0..half), part(half..2 * half), rest)
    }
}

/// Queries, `[batch, seq, n_heads, head_dim]`, and keys, `[batch, seq, n_kv_heads, head_dim]`, after
/// their norms and RoPE, where there are any. On a GPU both are one launch.
pub(super) fn turned(
    qk: [Tensor<4>; 2],
    norms: [&Option<RmsNorm>; 2],
    rotation: Option<&Rotation>,
) -> [Tensor<4>; 2] {
    #[cfg(feature = "cube")]
    if let Some(rotation) = rotation
        && has_cubes(&qk[0].device())
    {
        let table = rotation.table.clone();
        let [_, _, _, head_dim] = qk[0].dims();
        let [q, k] = match norms {
            // The kernel knows norms of heads.
            [Some(q_norm), Some(k_norm)] if q_norm.weight.dims() == [head_dim] => {
                let weights = [q_norm.weight.val(), k_norm.weight.val()];
                on_gpu::norm_and_rotate(qk, table, weights, q_norm.eps())
            }
            _ => on_gpu::rotate(normed(norms, qk), table),
        };
        return [rotation.grown(q), k];
    }
    rotated(rotation, normed(norms, qk))
}

/// Queries and keys after their norms, where the model has these: of each head, or of all heads
/// together.
pub(super) fn normed(norms: [&Option<RmsNorm>; 2], qk: [Tensor<4>; 2]) -> [Tensor<4>; 2] {
    let [q, k] = qk;
    [(norms[0], q), (norms[1], k)].map(|(norm, x)| {
        let Some(norm) = norm else { return x };
        let ([batch, seq, heads, head_dim], [length]) = (x.dims(), norm.weight.dims());
        let vectors = x.reshape([batch, seq, heads * head_dim / length, length]);
        norm.forward(vectors).reshape([batch, seq, heads, head_dim])
    })
}

/// Queries and keys after RoPE, where the layer has it.
pub(super) fn rotated(rotation: Option<&Rotation>, [q, k]: [Tensor<4>; 2]) -> [Tensor<4>; 2] {
    match rotation {
        Some(rotation) => [rotation.grown(rotation.apply(q)), rotation.apply(k)],
        None => [q, k],
    }
}
