//! Normalization layers: RMSNorm and LayerNorm.

use burn::module::{Module, Param};
use burn::tensor::{DType, Tensor};

use super::config::{LlamaConfig, ModelConfig};
use super::source::{LoadVector, Source};
#[cfg(feature = "cube")]
use crate::cube::norm as on_gpu;
#[cfg(feature = "cube")]
use crate::device::has_cubes;
use crate::error::Result;

/// Divides each vector by its root mean square, then scales each entry by a learned weight
/// (Zhang and Sennrich, arXiv 1910.07467).
#[derive(Module, Debug)]
pub struct RmsNorm<V = Param<Tensor<1>>> {
    /// `[d]`
    pub weight: V,
    pub(super) eps: f64,
}

impl RmsNorm {
    // ANCHOR: rms_norm
    /// `[..., d]` -> `[..., d]`
    ///
    /// The mean is taken in f32: in f16 a sum of squares overflows at 65,504.
    fn normed<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        let dtype = x.dtype();
        let x = x.cast(DType::F32);
        let mean_square = x.clone().square().mean_dim(D - 1); // [..., 1]
        let x = x / (mean_square + self.eps).sqrt();
        x.cast(dtype) * self.weight.val().unsqueeze()
    }
    // ANCHOR_END: rms_norm
}

impl<V: LoadVector> RmsNorm<V> {
    pub(super) fn load(weights: &dyn Source, name: &str, d: usize, eps: f64) -> Result<Self> {
        Ok(Self { weight: V::load(weights, &format!("{name}.weight"), d)?, eps })
    }

    /// A norm that multiplies by the same number everywhere.
    pub(super) fn without_weights(weights: &dyn Source, d: usize, eps: f64) -> Self {
        Self { weight: V::ones(weights, d), eps }
    }

    /// A norm whose weights are those of a vector, times a number.
    pub(super) fn load_scaled(
        weights: &dyn Source,
        name: &str,
        d: usize,
        (scale, eps): (f64, f64),
    ) -> Result<Self> {
        Ok(Self { weight: V::load(weights, name, d)?.times(scale), eps })
    }

    /// As [`load`](Self::load), for a model of the Llama family: where its norms multiply by
    /// `1 + weight`, the sum is what is kept.
    pub(super) fn load_in(
        weights: &dyn Source,
        name: &str,
        d: usize,
        config: &ModelConfig,
        llama: &LlamaConfig,
    ) -> Result<Self> {
        let norm = Self::load(weights, name, d, config.norm_eps)?;
        if !llama.one_plus_norms {
            return Ok(norm);
        }
        Ok(Self { weight: norm.weight.plus_one(), ..norm })
    }
}

impl RmsNorm {
    /// `[..., d]` -> `[..., d]`
    pub fn forward<const D: usize>(&self, x: Tensor<D>) -> Tensor<D> {
        #[cfg(feature = "cube")]
        if has_cubes(&x.device()) {
            return on_gpu::rms_norm(x, self.weight.val(), self.eps());
        }
        self.normed(x)
    }

    /// The sum of two tensors, and its norm, all `[..., d]`: on a GPU in one launch.
    pub(super) fn add<const D: usize>(&self, x: Tensor<D>, y: Tensor<D>) -> [Tensor<D>; 2] {
        #[cfg(feature = "cube")]
        if has_cubes(&x.device()) {
            return on_gpu::add_rms_norm(x, y, self.weight.val(), self.eps());
        }
        let sum = x + y;
        [sum.clone(), self.normed(sum)]
    }

    /// What is added to the mean of the squares.
    #[cfg(feature = "cube")]
    pub(super) fn eps(&self) -> f32 {
        self.eps as f32
    }
}

/// Normalizes each vector to mean 0 and variance 1, then scales and shifts each entry by learned
/// weights (Ba et al., arXiv 1607.06450).
#[derive(Module, Debug)]
pub struct LayerNorm<V = Param<Tensor<1>>> {
    /// `[d]`
    pub weight: V,
    /// `[d]`
    pub bias: V,
    pub(super) eps: f64,
}

impl<V: LoadVector> LayerNorm<V> {
    pub(super) fn load(weights: &dyn Source, name: &str, d: usize, eps: f64) -> Result<Self> {
        let vector = |part: &str| V::load(weights, &format!("{name}.{part}"), d);
        Ok(Self { weight: vector("weight")?, bias: vector("bias")?, eps })
    }
}

impl LayerNorm {
    /// `[batch, seq, d]` -> `[batch, seq, d]`
    ///
    /// Mean and variance are taken in f32, as in [`RmsNorm::forward`].
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let dtype = x.dtype();
        let x = x.cast(DType::F32);
        let x = x.clone() - x.mean_dim(2); // [batch, seq, d]
        let variance = x.clone().square().mean_dim(2); // [batch, seq, 1]
        let x = x / (variance + self.eps).sqrt();
        x.cast(dtype) * self.weight.val().unsqueeze() + self.bias.val().unsqueeze()
    }
}
