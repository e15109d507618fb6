//! Matrices that turn one vector into another.

use burn::module::{Module, Param};
use burn::tensor::Tensor;

use super::threads;
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
        let [y] = forward_all([self], x);
        y
    }
}

/// What each of `linears` makes of the same `[batch, seq, in]`.
pub fn forward_all<const N: usize>(linears: [&Linear; N], x: Tensor<3>) -> [Tensor<3>; N] {
    let products = apply_all(linears.map(|linear| linear.weight.val()), x);
    let mut biases = linears.iter().map(|linear| &linear.bias);
    products.map(|y| match biases.next() {
        Some(Some(bias)) => y + bias.val().unsqueeze(),
        _ => y,
    })
}

/// Multiplies every position of `x` by `weight`: `[out, in]` and `[batch, seq, in]` give
/// `[batch, seq, out]`.
pub fn apply(weight: Tensor<2>, x: Tensor<3>) -> Tensor<3> {
    let [y] = apply_all([weight], x);
    y
}

fn apply_all<const N: usize>(weights: [Tensor<2>; N], x: Tensor<3>) -> [Tensor<3>; N] {
    /// Up to here, reading the matrix costs more than computing with it.
    const FEW: usize = 8;
    let [batch, seq, _] = x.dims();
    let threads = threads::count(&x.device());
    match batch * seq {
        1 => apply_to_few(weights, x, threads),
        2..=FEW if threads > 1 => apply_to_few(weights, x, threads),
        _ => weights.map(|weight| apply_to_many(weight, x.clone())),
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

/// Decode: every number of a matrix is read for one product or for few, so reading is all that
/// costs. One thread does not read as fast as the memory can. The matrices are seen as blocks of
/// rows, of which each thread takes the next.
fn apply_to_few<const N: usize>(
    weights: [Tensor<2>; N],
    x: Tensor<3>,
    threads: usize,
) -> [Tensor<3>; N] {
    let [batch, seq, n_in] = x.dims();
    let x = x.reshape([batch * seq, 1, n_in]);
    // In this order both are views: to lay out a transposed matrix anew, it would be copied.
    let product = |block: Tensor<2>| x.clone().matmul(block.unsqueeze::<3>().transpose());
    let size: usize = weights.iter().map(|weight| weight.shape().num_elements()).sum();
    if threads == 1 || size < SHARED {
        return weights.map(|weight| {
            let [n_out, _] = weight.dims();
            product(weight).reshape([batch, seq, n_out])
        });
    }
    let rows = BLOCK.div_ceil(n_in); // of one block
    let blocks = weights.iter().flat_map(|weight| weight.clone().split(rows, 0));
    // Each is [batch * seq, 1, rows].
    let mut products = threads::map(blocks.collect(), product).into_iter();
    weights.map(|weight| {
        let [n_out, _] = weight.dims();
        let y = Tensor::cat(products.by_ref().take(n_out.div_ceil(rows)).collect(), 2);
        y.reshape([batch, seq, n_out])
    })
}

/// So many numbers are worth sharing among threads.
const SHARED: usize = 1 << 18;

/// So many numbers are one thread's share at a time. It keeps them at hand while it multiplies
/// several positions.
const BLOCK: usize = 1 << 17;

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Distribution};

    use super::*;

    /// The last row of many is what the row gives alone, in one block, in several, and where
    /// the last of these is smaller.
    #[test]
    fn one_position_gives_what_it_gives_among_others() {
        let device = Device::default();
        let normal = Distribution::Normal(0.0, 1.0);
        for (n_out, n_in) in [(48, 16), (32 * 1024, 64), (50_257, 48)] {
            let weight = Tensor::<2>::random([n_out, n_in], normal, &device);
            let x = Tensor::<3>::random([1, 20, n_in], normal, &device);
            let many = apply(weight.clone(), x.clone());
            for few in [1, 3] {
                let some = apply(weight.clone(), x.clone().narrow(1, 20 - few, few));
                assert_eq!(some.dims(), [1, few, n_out]);
                let distance = many.clone().narrow(1, 20 - few, few) - some;
                let distance = distance.abs().max().into_scalar::<f32>();
                assert!(distance < 1e-4, "{few} of {n_out} x {n_in}: {distance}");
            }
        }
    }
}
