//! Rotary position embedding (RoPE; Su et al., RoFormer, arXiv 2104.09864).

use std::f64::consts::TAU;

use burn::tensor::{DType, Device, Tensor, TensorData, s};

use super::config::{RopeConfig, RopeScaling};

/// The rotation frequency of each pair of entries of a head.
///
/// Entry `i` of a head is paired with entry `i + head_dim / 2` (`rotate_half`, the layout of
/// Hugging Face checkpoints). Each position rotates the pair further by the angle
/// `theta^(-2i / head_dim)`.
#[derive(Debug, Clone)]
pub struct Rope {
    /// Radians per position, `[head_dim / 2]`.
    frequencies: Vec<f64>,
}

/// The cosines and sines that rotate the queries and keys at some positions.
///
/// Always in f32: f16 cannot tell apart positions beyond 2,048.
#[derive(Debug, Clone)]
pub struct Rotation {
    /// `[seq, head_dim / 2]`
    cos: Tensor<2>,
    /// `[seq, head_dim / 2]`
    sin: Tensor<2>,
}

impl Rope {
    /// The frequencies for heads of an even size.
    pub fn new(rope: &RopeConfig, head_dim: usize) -> Self {
        let frequency = |i: usize| libm::pow(rope.theta, -(2.0 * i as f64) / head_dim as f64);
        let scaled = |i| scale(i, frequency(i), &rope.scaling);
        Self { frequencies: (0..head_dim / 2).map(scaled).collect() }
    }

    /// The rotation for each of `positions`.
    pub fn rotation(&self, positions: &[usize], device: &Device) -> Rotation {
        let shape = [positions.len(), self.frequencies.len()];
        let tensor = |table| Tensor::from_data(TensorData::new(table, shape), (device, DType::F32));
        let [cos, sin] = self.tables(positions).map(tensor);
        Rotation { cos, sin }
    }

    /// The cosines and the sines of the angles at each of `positions`, both `[seq, head_dim / 2]`.
    /// Angles are f64, with sines and cosines by `libm`, which gives the same bits on every machine.
    pub(super) fn tables(&self, positions: &[usize]) -> [Vec<f32>; 2] {
        [libm::cos, libm::sin].map(|of: fn(f64) -> f64| {
            let values = positions.iter().flat_map(|&position| {
                let angles = self.frequencies.iter().map(move |turn| position as f64 * turn);
                angles.map(move |angle| of(angle) as f32)
            });
            values.collect()
        })
    }
}

/// Lowers the frequency of pair `i`, so that the angles of a longer context stay in the range of the
/// training context.
fn scale(i: usize, frequency: f64, scaling: &RopeScaling) -> f64 {
    match scaling {
        RopeScaling::None => frequency,
        RopeScaling::Linear { factor } => frequency / factor,
        RopeScaling::Factors(factors) => frequency / f64::from(factors[i]),
        RopeScaling::Llama3 { factor, low_freq_factor, high_freq_factor, original_context } => {
            let turns = original_context * frequency / TAU; // in the original context
            let kept = (turns - low_freq_factor) / (high_freq_factor - low_freq_factor);
            let kept = kept.clamp(0.0, 1.0);
            kept * frequency + (1.0 - kept) * frequency / factor
        }
    }
}

impl Rotation {
    // ANCHOR: rotate
    /// Rotates queries or keys: `[batch, seq, heads, head_dim]` -> the same shape.
    pub fn apply(&self, x: Tensor<4>) -> Tensor<4> {
        let dtype = x.dtype();
        let [first, second] = halves(x.cast(DType::F32));
        let [cos, sin] = [&self.cos, &self.sin].map(|table| table.clone().unsqueeze_dim::<3>(1));
        // [1, seq, 1, head_dim / 2]
        let [cos, sin] = [cos, sin].map(|table| table.unsqueeze::<4>());
        let turned_first = first.clone() * cos.clone() - second.clone() * sin.clone();
        let turned_second = second * cos + first * sin;
        Tensor::cat(vec![turned_first, turned_second], 3).cast(dtype)
    }
    // ANCHOR_END: rotate
}

fn halves(x: Tensor<4>) -> [Tensor<4>; 2] {
    let [_, _, _, head_dim] = x.dims();
    let first = x.clone().slice(s![.., .., .., ..head_dim / 2]);
    let second = x.slice(s![.., .., .., head_dim / 2..]);
    [first, second]
}
