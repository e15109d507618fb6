//! Linear layers.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use super::source::Source;
use super::weight::Weight;
use crate::error::Result;
use crate::kernels::{self, Panels};

/// A linear layer: `y = W x + b` at every position.
#[derive(Module, Debug)]
pub struct Linear {
    pub weight: Weight,
    /// `[out]`
    pub bias: Option<Param<Tensor<1>>>,
}

impl Linear {
    /// Loads `name.weight`, stored as `[out, in]`, and `name.bias` where `bias` is true.
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        shape: [usize; 2],
        bias: bool,
    ) -> Result<Self> {
        let weight = weights.matrix(&format!("{name}.weight"), shape)?;
        let bias = if bias {
            Some(weights.vector(&format!("{name}.bias"), shape[0])?)
        } else {
            None
        };
        Ok(Self { weight, bias })
    }

    /// Loads `name.weight`, stored as `[vocab, d_model]`: the head.
    pub(super) fn load_head(weights: &dyn Source, name: &str, shape: [usize; 2]) -> Result<Self> {
        let weight = weights.embedding(&format!("{name}.weight"), shape)?;
        Ok(Self { weight, bias: None })
    }

    /// Loads `name.weight`, stored as `[in, out]`, and `name.bias`: a one-dimensional convolution,
    /// in GPT-2's terms. The matrix is transposed once, here.
    pub(super) fn load_transposed(
        weights: &dyn Source,
        name: &str,
        shape: [usize; 2],
    ) -> Result<Self> {
        let weight = weights.transposed(&format!("{name}.weight"), shape)?;
        let bias = Some(weights.vector(&format!("{name}.bias"), shape[0])?);
        Ok(Self { weight, bias })
    }

    // ANCHOR: forward
    /// `[batch, seq, in]` -> `[batch, seq, out]`
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        let weight = match &self.weight {
            Weight::Dense(weight) => weight.val(),
            Weight::Packed(packed) => {
                let [y] = kernels::tensor::linear([(&packed.panels, self.bias())], x);
                return y;
            }
        };
        match self.bias() {
            Some(bias) => product(weight, x) + bias.unsqueeze(),
            None => product(weight, x),
        }
    }
    // ANCHOR_END: forward

    fn bias(&self) -> Option<Tensor<1>> {
        self.bias.as_ref().map(Param::val)
    }

    fn packed(&self) -> Option<(&Panels, Option<Tensor<1>>)> {
        match &self.weight {
            Weight::Packed(packed) => Some((&packed.panels, self.bias())),
            Weight::Dense(_) => None,
        }
    }
}

// ANCHOR: forward_all
/// Applies each of `linears` to the same `x`, `[batch, seq, in]`. On the CPU, the threads share the
/// rows of all matrices.
pub fn forward_all<const N: usize>(linears: [&Linear; N], x: Tensor<3>) -> [Tensor<3>; N] {
    let packed: Vec<_> = linears.iter().filter_map(|linear| linear.packed()).collect();
    if let Ok(layers) = <[_; N]>::try_from(packed) {
        return kernels::tensor::linear(layers, x);
    }
    linears.map(|linear| linear.forward(x.clone()))
}
// ANCHOR_END: forward_all

/// Multiplies every position of `x` by `weight`: `[out, in]` and `[batch, seq, in]` give
/// `[batch, seq, out]`.
///
/// For several positions, the weight is the left operand, in its stored layout. As `x W^T`, a tied
/// head would copy the whole embedding matrix at every step.
fn product(weight: Tensor<2>, x: Tensor<3>) -> Tensor<3> {
    let [batch, seq, n_in] = x.dims();
    let [n_out, _] = weight.dims();
    if batch * seq == 1 {
        return x.matmul(weight.unsqueeze::<3>().transpose());
    }
    let columns = x.reshape([batch * seq, n_in]).transpose(); // [in, batch * seq]
    let y = weight.matmul(columns); // [out, batch * seq]
    y.transpose().reshape([batch, seq, n_out])
}
