//! Linear layers.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

#[cfg(feature = "cube")]
pub use super::device_panels::DevicePanels;
use super::source::{LoadLinear, Role, Source};
use crate::device::has_cubes;
use crate::error::Result;

/// A linear layer: `y = W x + b` at every position.
#[derive(Module, Debug)]
pub struct Linear {
    /// `[out, in]`
    pub weight: Weight,
    /// `[out]`
    pub bias: Option<Param<Tensor<1>>>,
}

impl LoadLinear for Linear {
    fn load(
        weights: &dyn Source,
        name: &str,
        shape: [usize; 2],
        role: Role,
        bias: bool,
    ) -> Result<Self> {
        let [matrix, vector] = role.names(name);
        let weight = weights.matrix(&matrix, shape, role)?;
        let bias = bias.then(|| weights.vector(&vector, shape[0], role));
        Ok(Self { weight, bias: bias.transpose()? })
    }

    /// Those that were joined take one launch of [`each`](Self::each) on a GPU.
    #[cfg(feature = "cube")]
    fn join<const N: usize>(linears: [&mut Self; N]) {
        DevicePanels::join(linears);
    }
}

impl Linear {
    /// Applies each of `linears` to the same `x`: `[batch, seq, in]` -> `[batch, seq, out]` for each. Those
    /// that were [joined](LoadLinear::join) take one launch on a GPU.
    pub(crate) fn each<const N: usize>(linears: [&Self; N], x: Tensor<3>) -> [Tensor<3>; N] {
        #[cfg(feature = "cube")]
        if let Some(products) = DevicePanels::products(linears, &x) {
            let mut linears = linears.into_iter();
            return products.map(|y| match linears.next() {
                Some(linear) => linear.biased(y),
                None => y,
            });
        }
        linears.map(|linear| linear.forward(x.clone()))
    }

    /// `[batch, seq, in]` -> `[batch, seq, out]`
    pub fn forward(&self, x: Tensor<3>) -> Tensor<3> {
        self.biased(self.weight.product(x))
    }

    /// Adds the bias, where there is one.
    fn biased(&self, y: Tensor<3>) -> Tensor<3> {
        match &self.bias {
            Some(bias) => y + bias.val().unsqueeze(),
            None => y,
        }
    }
}

/// A matrix, `[out, in]`, in the form in which a device multiplies with it.
#[derive(Module, Debug)]
#[cfg_attr(
    feature = "cube",
    expect(
        clippy::large_enum_variant,
        reason = "all matrices of a model have the same"
    )
)]
pub enum Weight {
    /// For the products of Burn, which has gradients.
    Dense(Param<Tensor<2>>),
    /// Packed, for the kernels of `cube`: the weights of a file, on a GPU.
    #[cfg(feature = "cube")]
    Panels(DevicePanels),
}

impl Weight {
    /// Multiplies every position of `x`: `[batch, seq, in]` -> `[batch, seq, out]`.
    fn product(&self, x: Tensor<3>) -> Tensor<3> {
        match self {
            Self::Dense(weight) => product(weight.val(), x),
            #[cfg(feature = "cube")]
            Self::Panels(panels) => panels.product(x),
        }
    }
}

/// Multiplies every position of `x` by `weight`: `[out, in]` and `[batch, seq, in]` give
/// `[batch, seq, out]`.
///
/// For several positions, on a CPU, the weight is the left operand, in its stored layout: as `x W^T`, a
/// tied head would copy the whole embedding matrix at every step. GPUs read a transposed operand in
/// place, and give a result with its rows one after the other. (Burn's top-k, which chooses experts,
/// finds wrong numbers in any other order there.)
fn product(weight: Tensor<2>, x: Tensor<3>) -> Tensor<3> {
    let [batch, seq, n_in] = x.dims();
    let [n_out, _] = weight.dims();
    if batch * seq == 1 || has_cubes(&x.device()) {
        return x.matmul(weight.unsqueeze::<3>().transpose());
    }
    let columns = x.reshape([batch * seq, n_in]).transpose(); // [in, batch * seq]
    let y = weight.matmul(columns); // [out, batch * seq]
    y.transpose().reshape([batch, seq, n_out])
}
