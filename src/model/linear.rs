//! Matrices that turn one vector into another.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use super::weights::Weights;
use crate::error::Result;

/// A linear map, `y = W x + b`, for every position.
#[derive(Module, Debug)]
pub struct Linear {
    /// `[out, in]`
    pub weight: Param<Tensor<2>>,
    /// `[out]`
    pub bias: Option<Param<Tensor<1>>>,
}

impl Linear {
    /// Takes `name.weight`, stored as `[out, in]`, and `name.bias` if there is to be one.
    pub(super) fn load(
        weights: &Weights<'_>,
        name: &str,
        [n_out, n_in]: [usize; 2],
        bias: bool,
    ) -> Result<Self> {
        let weight = weights.tensor(&format!("{name}.weight"), [n_out, n_in])?;
        let bias = match bias {
            true => Some(weights.tensor(&format!("{name}.bias"), [n_out])?),
            false => None,
        };
        Ok(Self { weight, bias })
    }

    /// Takes `name.weight`, stored as `[in, out]`, and `name.bias`: what GPT-2's files call a
    /// one-dimensional convolution. The matrix is turned once, here.
    pub(super) fn load_transposed(
        weights: &Weights<'_>,
        name: &str,
        [n_out, n_in]: [usize; 2],
    ) -> Result<Self> {
        let weight = weights.transposed(&format!("{name}.weight"), [n_out, n_in])?;
        let bias = Some(weights.tensor(&format!("{name}.bias"), [n_out])?);
        Ok(Self { weight, bias })
    }

    /// `[batch, seq, in]` -> `[batch, seq, out]`
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let y = apply(self.weight.val(), x);
        match &self.bias {
            Some(bias) => y + bias.val().unsqueeze(),
            None => y,
        }
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
