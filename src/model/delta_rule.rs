//! Layers with the gated delta rule, which stand in place of attention in three of four layers of Qwen 3.5
//! (Gated DeltaNet; Yang et al., arXiv 2412.06464).
//!
//! Each head has a matrix that maps keys to values. A position lets it fade, corrects the value that it has for the
//! position's key, and reads the value for its query. The matrix is a state of fixed size, however long the text
//! is. Queries, keys and values go through a short convolution before that.

use burn::module::Module;
use burn::tensor::{DType, Tensor, TensorData};

use super::architecture::to_host;
use super::config::{DeltaRule, LlamaConfig, ModelConfig};
use super::linear::Linear;
use super::pass::Pass;
use super::source::{HeadRows, LoadLinear, Role, Source};
use crate::activation::Activation;
use crate::error::Result;
use crate::kernels::{self, DeltaHeads, DeltaRows, recorded};
use crate::kv::StateShape;

/// A layer with the gated delta rule. Its fields are named as in a Hugging Face checkpoint.
#[derive(Module, Debug)]
pub struct GatedDelta<L = Linear> {
    pub(super) in_proj_qkv: L,
    /// The gate of what a head reads.
    pub(super) in_proj_z: L,
    /// How strongly a value is written.
    pub(super) in_proj_b: L,
    /// How much is forgotten.
    pub(super) in_proj_a: L,
    pub(super) out_proj: L,
    #[module(skip)]
    pub(super) core: DeltaCore,
}

/// What is between the linear layers. States are in the memory of the host, on every device, and so this is
/// computed there.
#[derive(Debug, Clone)]
pub(super) struct DeltaCore {
    convolution: kernels::Convolution,
    heads: DeltaHeads,
    /// How fast each head forgets, `[value_heads]`: a number below 0.
    rates: Vec<f32>,
    /// `[value_heads]`
    rate_bias: Vec<f32>,
    /// Of the norm of what a head reads, `[value_dim]`.
    norm: Vec<f32>,
    eps: f32,
    /// Its number among the layers that have states.
    layer: usize,
}

impl DeltaRule {
    pub(super) fn heads(self) -> DeltaHeads {
        let Self { key_heads, value_heads, key_dim, value_dim, .. } = self;
        DeltaHeads { key_heads, value_heads, key_dim, value_dim }
    }

    /// Where Qwen3-Next has queries, keys and values, their gates, strengths and changes: two matrices, with the rows of
    /// all of them for each head of keys.
    fn parts_of_heads(self) -> [(&'static str, Role); 4] {
        let (heads, keys) = (self.key_heads, self.key_dim);
        let each = self.value_heads / heads;
        let values = each * self.value_dim;
        let role =
            |rows, parts, is_router| Role::OfHeads(HeadRows { heads, rows, parts, is_router });
        let (rows, none) = (2 * (keys + values), (0, 0));
        let qkv = [(0, keys), (keys, keys), (2 * keys, values)];
        [
            ("in_proj_qkvz", role(rows, qkv, false)),
            ("in_proj_qkvz", role(rows, [(2 * keys + values, values), none, none], false)),
            ("in_proj_ba", role(2 * each, [(0, each), none, none], true)),
            ("in_proj_ba", role(2 * each, [(each, each), none, none], true)),
        ]
    }

    /// What a layer remembers.
    pub(super) fn state(self) -> StateShape {
        let heads = self.heads();
        StateShape {
            state: (self.width - 1) * heads.channels() + heads.state(),
            row: heads.channels() + 2 * self.value_heads,
        }
    }
}

impl DeltaCore {
    /// Of the tensors in `name`, for layer `index`.
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        (config, llama, index): (&ModelConfig, &LlamaConfig, usize),
        rule: DeltaRule,
    ) -> Result<Self> {
        let (heads, width) = (rule.heads(), rule.width);
        let numbers =
            |part: &str, length, role| weights.numbers(&format!("{name}.{part}"), length, role);
        let taps = numbers("conv1d.weight", heads.channels() * width, Role::Convolution { width })?;
        // A GGUF file has the rates themselves.
        let rates = if weights.has(&format!("{name}.rates")) {
            numbers("rates", rule.value_heads, Role::Layer)?
        } else {
            let logs = numbers("A_log", rule.value_heads, Role::Layer)?;
            logs.iter().map(|log| -libm::exp(f64::from(*log)) as f32).collect()
        };
        Ok(Self {
            convolution: kernels::Convolution::new(&taps, width, None),
            heads,
            rates,
            rate_bias: numbers("dt_bias", rule.value_heads, Role::Layer)?,
            norm: numbers("norm.weight", rule.value_dim, Role::Layer)?,
            eps: config.norm_eps as f32,
            layer: llama.state_layers(index),
        })
    }

    /// What heads read, normed and gated, `[seq, value_heads * value_dim]`, from what the linear layers made of the
    /// input, `[seq, ...]` each. `z` becomes the result.
    pub(super) fn forward(&self, [qkv, b, a]: [&[f32]; 3], z: &mut [f32], pass: &mut Pass<'_>) {
        let DeltaHeads { value_heads, .. } = self.heads;
        let channels = self.heads.channels();
        let shape = StateShape {
            state: self.convolution.state() + self.heads.state(),
            row: channels + 2 * value_heads,
        };
        let mut rows = Vec::with_capacity(qkv.len() / channels * shape.row);
        let changes = b.chunks_exact(value_heads).zip(a.chunks_exact(value_heads));
        for (qkv, (b, a)) in qkv.chunks_exact(channels).zip(changes) {
            rows.extend_from_slice(qkv);
            // `libm` gives the same bits on every machine.
            let rates = self.rates.iter().zip(&self.rate_bias);
            rows.extend(a.iter().zip(rates).map(|(a, (rate, bias))| {
                let x = f64::from(a + bias);
                let softplus = if x > 20.0 {
                    x
                } else {
                    libm::log1p(libm::exp(x))
                };
                libm::exp(f64::from(*rate) * softplus) as f32
            }));
            rows.extend(b.iter().map(|b| (1.0 / (1.0 + libm::exp(-f64::from(*b)))) as f32));
        }
        let mut mixed =
            pass.advance(self.layer, shape, &rows, |state, rows| self.update(state, rows));
        recorded::rms_norm(&mut mixed, &self.norm, self.eps);
        recorded::gated(z, &mixed, Activation::Silu);
    }

    /// Changes a state by rows, and returns what heads read, `[seq, value_heads * value_dim]`.
    fn update(&self, state: &mut [f32], rows: &[f32]) -> Vec<f32> {
        let (channels, heads) = (self.heads.channels(), self.heads.value_heads);
        let part = |first: usize, count: usize| -> Vec<f32> {
            let rows = rows.chunks_exact(channels + 2 * heads);
            rows.flat_map(|row| &row[first..first + count]).copied().collect()
        };
        let (last, state) = state.split_at_mut(self.convolution.state());
        let mut qkv = recorded::convolve(&self.convolution, last, &part(0, channels));
        recorded::activate(&mut qkv, Activation::Silu);
        let (decay, strength) = (part(channels, heads), part(channels + heads, heads));
        let rows = DeltaRows { qkv: &qkv, decay: &decay, strength: &strength };
        recorded::delta_rule(self.heads, state, rows)
    }
}

impl<L: LoadLinear> GatedDelta<L> {
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        (config, llama, index): (&ModelConfig, &LlamaConfig, usize),
        rule: DeltaRule,
    ) -> Result<Self> {
        let (heads, d_model) = (rule.heads(), config.d_model);
        let (values, count) = (rule.value_heads * rule.value_dim, rule.value_heads);
        let linear = |(part, role): (&str, Role), rows: usize| {
            L::load(weights, &format!("{name}.{part}"), [rows, d_model], role, false)
        };
        let [qkv, z, b, a] = match weights.has(&format!("{name}.in_proj_qkvz.weight")) {
            true => rule.parts_of_heads(),
            false => [
                ("in_proj_qkv", Role::Layer),
                ("in_proj_z", Role::Layer),
                // As routers, they are small, and what they decide is not taken back.
                ("in_proj_b", Role::Router),
                ("in_proj_a", Role::Router),
            ],
        };
        let out = format!("{name}.out_proj");
        Ok(Self {
            in_proj_qkv: linear(qkv, heads.channels())?,
            in_proj_z: linear(z, values)?,
            in_proj_b: linear(b, count)?,
            in_proj_a: linear(a, count)?,
            out_proj: L::load(weights, &out, [d_model, values], Role::Layer, false)?,
            core: DeltaCore::load(weights, name, (config, llama, index), rule)?,
        })
    }
}

impl GatedDelta {
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    pub(super) fn forward(&self, x: Tensor<3>, pass: &mut Pass<'_>) -> Tensor<3> {
        self.output(self.mixed(x, pass))
    }

    /// What the last linear layer reads, `[batch, seq, value_heads * value_dim]`.
    pub(super) fn mixed(&self, x: Tensor<3>, pass: &mut Pass<'_>) -> Tensor<3> {
        let (device, dtype) = (x.device(), x.dtype());
        let linear = |linear: &Linear| linear.forward(x.clone());
        let z = linear(&self.in_proj_z);
        let shape = z.dims();
        let others = [&self.in_proj_qkv, &self.in_proj_b, &self.in_proj_a];
        let [qkv, b, a] = others.map(|layer| to_host(linear(layer)));
        // A device that fails here also fails where the logits are read.
        let (Ok(qkv), Ok(b), Ok(a), Ok(mut mixed)) = (qkv, b, a, to_host(z.clone())) else {
            return z.zeros_like();
        };
        self.core.forward([&qkv, &b, &a], &mut mixed, pass);
        let mixed = TensorData::new(mixed, shape);
        Tensor::<3>::from_data(mixed, (&device, DType::F32)).cast(dtype)
    }

    pub(super) fn output(&self, mixed: Tensor<3>) -> Tensor<3> {
        self.out_proj.forward(mixed)
    }
}
