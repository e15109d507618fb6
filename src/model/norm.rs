//! RMSNorm: keeps the length of a vector in bounds (Zhang and Sennrich, arXiv 1910.07467).

use burn::module::{Module, Param};
use burn::tensor::{DType, Tensor};

use super::weights::Weights;
use crate::error::Result;

/// Divides each vector by its root mean square, then scales each entry by a learned weight.
#[derive(Module, Debug)]
pub struct RmsNorm {
    /// `[d_model]`
    pub weight: Param<Tensor<1>>,
    eps: f64,
}

impl RmsNorm {
    pub(super) fn load(
        weights: &Weights<'_>,
        name: &str,
        d_model: usize,
        eps: f64,
    ) -> Result<Self> {
        let weight = weights.tensor(&format!("{name}.weight"), [d_model])?;
        Ok(Self { weight, eps })
    }

    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    ///
    /// The mean is taken in f32: in f16 a sum of squares overflows at 65,504.
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let dtype = x.dtype();
        let x = x.cast(DType::F32);
        let mean_square = x.clone().square().mean_dim(2); // [batch, seq, 1]
        let x = x / (mean_square + self.eps).sqrt();
        x.cast(dtype) * self.weight.val().unsqueeze()
    }
}
