//! RoPE: a position as a rotation (Su et al., RoFormer, arXiv 2104.09864).

use std::f64::consts::TAU;

use burn::tensor::{DType, Device, Tensor, TensorData, bf16, f16, s};

use super::config::{RopeConfig, RopeScaling};

/// How fast each pair of entries of a head turns.
///
/// Entry `i` of a head is paired with entry `i + head_dim / 2` (`rotate_half`, the layout of
/// Hugging Face checkpoints). From one position to the next the pair turns by the angle
/// `theta^(-2i / head_dim)`.
#[derive(Debug, Clone)]
pub struct Rope {
    /// Radians per position, `[head_dim / 2]`.
    frequencies: Vec<f64>,
}

/// The cosines and sines by which the queries and keys of some positions are turned.
///
/// They are f32 whatever the model computes in: half precision cannot tell apart positions
/// beyond 2,048.
#[derive(Debug, Clone)]
pub struct Rotation {
    /// `[1, 1, seq, head_dim]`
    cos: Tensor<4>,
    /// `[1, 1, seq, head_dim]`, negative in the first half of a head.
    sin: Tensor<4>,
}

impl Rope {
    /// The frequencies for heads of an even size.
    pub fn new(rope: &RopeConfig, head_dim: usize) -> Self {
        let frequency = |i: usize| rope.theta.powf(-(2.0 * i as f64) / head_dim as f64);
        let scaled = |i| round(scale(frequency(i), &rope.scaling), rope.rounded_to);
        Self { frequencies: (0..head_dim / 2).map(scaled).collect() }
    }

    /// The rotation for each of `positions`.
    pub fn rotation(&self, positions: &[usize], device: &Device) -> Rotation {
        let shape = [1, 1, positions.len(), 2 * self.frequencies.len()];
        let table = |of: fn(f64) -> f64, sign: f32| {
            let values = positions.iter().flat_map(|&position| {
                let half =
                    self.frequencies.iter().map(move |frequency| position as f64 * frequency);
                let half = half.map(move |angle| of(angle) as f32);
                half.clone().map(move |value| sign * value).chain(half)
            });
            Tensor::from_data(TensorData::new(values.collect(), shape), (device, DType::F32))
        };
        Rotation { cos: table(f64::cos, 1.0), sin: table(f64::sin, -1.0) }
    }
}

/// Slows a pair down, so that as many positions as the model was stretched to turn it no
/// further than those did that it was trained on.
fn scale(frequency: f64, scaling: &RopeScaling) -> f64 {
    match *scaling {
        RopeScaling::None => frequency,
        RopeScaling::Linear { factor } => frequency / factor,
        RopeScaling::Llama3 { factor, low_freq_factor, high_freq_factor, original_context } => {
            let turns = original_context * frequency / TAU; // in the original context
            let kept = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor);
            let kept = kept.clamp(0.0, 1.0);
            kept * frequency + (1.0 - kept) * frequency / factor
        }
    }
}

fn round(frequency: f64, dtype: DType) -> f64 {
    match dtype {
        DType::F16 => f16::from_f64(frequency).to_f64(),
        DType::BF16 => bf16::from_f64(frequency).to_f64(),
        _ => frequency,
    }
}

impl Rotation {
    // ANCHOR: rotate
    /// Turns queries or keys: `[batch, heads, seq, head_dim]` -> the same.
    pub fn apply(&self, x: Tensor<4>) -> Tensor<4> {
        let [_, _, _, head_dim] = x.dims();
        let dtype = x.dtype();
        let x = x.cast(DType::F32);
        let first = x.clone().slice(s![.., .., .., ..head_dim / 2]);
        let second = x.clone().slice(s![.., .., .., head_dim / 2..]);
        let swapped = Tensor::cat(vec![second, first], 3);
        (x * self.cos.clone() + swapped * self.sin.clone()).cast(dtype)
    }
    // ANCHOR_END: rotate
}
