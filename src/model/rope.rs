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
    /// `[seq, head_dim]`
    cos: Tensor<2>,
    /// `[seq, head_dim]`
    sin: Tensor<2>,
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
        let shape = [positions.len(), 2 * self.frequencies.len()];
        let angles: Vec<f64> = positions
            .iter()
            .flat_map(|&position| {
                let both_halves = self.frequencies.iter().chain(&self.frequencies);
                both_halves.map(move |frequency| position as f64 * frequency)
            })
            .collect();
        let table = |of: fn(f64) -> f64| {
            let values: Vec<f32> = angles.iter().map(|&angle| of(angle) as f32).collect();
            Tensor::from_data(TensorData::new(values, shape), (device, DType::F32))
        };
        Rotation { cos: table(f64::cos), sin: table(f64::sin) }
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
        let turned = Tensor::cat(vec![second.neg(), first], 3);
        let (cos, sin) = (self.cos.clone().unsqueeze(), self.sin.clone().unsqueeze());
        (x * cos + turned * sin).cast(dtype)
    }
    // ANCHOR_END: rotate
}
