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
pub fn apply(weight: Tensor<2>, x: Tensor<3>) -> Tensor<3> {
    let [batch, seq, _] = x.dims();
    match batch * seq {
        1 => apply_to_one(weight, x),
        _ => apply_to_many(weight, x),
    }
}

/// Prefill: many positions share what is read of the matrix.
///
/// The weight stands on the left, as it lies in memory. Written the other way round,
/// `x W^T`, a tied head would copy the whole embedding matrix at every step.
fn apply_to_many(weight: Tensor<2>, x: Tensor<3>) -> Tensor<3> {
    let [batch, seq, n_in] = x.dims();
    let [n_out, _] = weight.dims();
    let columns = x.reshape([batch * seq, n_in]).transpose(); // [in, batch * seq]
    let y = weight.matmul(columns); // [out, batch * seq]
    y.transpose().reshape([batch, seq, n_out])
}

/// Decode: every number of the matrix is read for one product, so reading is all that costs.
/// One thread does not read as fast as the memory can: a large matrix is seen as several blocks
/// of rows, over which the backend spreads its threads.
fn apply_to_one(weight: Tensor<2>, x: Tensor<3>) -> Tensor<3> {
    let [n_out, n_in] = weight.dims();
    let blocks = blocks_of_rows(n_out, n_in);
    let weight = weight.reshape([blocks, n_out / blocks, n_in]); // a view, as is its transpose
    let y = x.matmul(weight.transpose()); // [1, 1, in] * [blocks, in, rows] = [blocks, 1, rows]
    y.reshape([1, 1, n_out])
}

/// Into how many equal blocks of rows a matrix is divided for one product with a vector.
fn blocks_of_rows(n_out: usize, n_in: usize) -> usize {
    /// Below this many multiplications `flex` stays on one thread, however they are divided.
    const LARGE: usize = 1 << 21;
    /// Enough for many threads, and few enough for each block to be worth handing out. The
    /// 50,257 rows of GPT-2's head have no divisor below 29.
    const MOST: usize = 32;
    match n_out * n_in >= LARGE {
        true => (1..=MOST).rev().find(|blocks| n_out.is_multiple_of(*blocks)).unwrap_or(1),
        false => 1,
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Distribution};

    use super::*;

    /// The last row of many is what the row gives alone, in one block, in several, and where
    /// the rows can't be divided.
    #[test]
    fn one_position_gives_what_it_gives_among_others() {
        let device = Device::default();
        let normal = Distribution::Normal(0.0, 1.0);
        for (n_out, n_in, blocks) in [(48, 16, 1), (32 * 1024, 64, 32), (50_257, 48, 29)] {
            assert_eq!(blocks_of_rows(n_out, n_in), blocks);
            let weight = Tensor::<2>::random([n_out, n_in], normal, &device);
            let x = Tensor::<3>::random([1, 3, n_in], normal, &device);
            let many = apply(weight.clone(), x.clone()).narrow(1, 2, 1);
            let one = apply(weight, x.narrow(1, 2, 1));
            assert_eq!(one.dims(), [1, 1, n_out]);
            let distance = (many - one).abs().max().into_scalar::<f32>();
            assert!(distance < 1e-4, "{n_out} x {n_in}: {distance}");
        }
    }
}
