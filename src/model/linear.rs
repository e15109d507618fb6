//! Matrices that turn one vector into another.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use super::weights::Weights;
use crate::error::Result;

/// A linear map without a bias, `y = W x`, for every position.
#[derive(Module, Debug)]
pub struct Linear {
    /// `[out, in]`, the layout of the file.
    pub weight: Param<Tensor<2>>,
}

impl Linear {
    pub(super) fn load(
        weights: &Weights<'_>,
        name: &str,
        n_in: usize,
        n_out: usize,
    ) -> Result<Self> {
        let weight = weights.tensor(&format!("{name}.weight"), [n_out, n_in])?;
        Ok(Self { weight })
    }

    /// `[batch, seq, in]` -> `[batch, seq, out]`
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        apply(self.weight.val(), x)
    }
}

/// Multiplies every position of `x` by `weight`: `[out, in]` and `[batch, seq, in]` give
/// `[batch, seq, out]`.
///
/// The weight stands on the left, as it lies in memory. Written the other way round,
/// `x W^T`, a tied head would copy the whole embedding matrix at every step.
pub fn apply(weight: Tensor<2>, x: Tensor<3>) -> Tensor<3> {
    let [batch, seq, n_in] = x.dims();
    let [n_out, _] = weight.dims();
    let columns = x.reshape([batch * seq, n_in]).transpose(); // [in, batch * seq]
    let y = weight.matmul(columns); // [out, batch * seq]
    y.transpose().reshape([batch, seq, n_out])
}
