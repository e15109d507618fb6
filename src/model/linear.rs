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
    /// Up to here, reading a matrix costs more than computing with it.
    const FEW: usize = 8;
    let [batch, seq, _] = x.dims();
    match batch * seq {
        1..=FEW if threads::can_share(&x.device()) => apply_to_few(weights, x),
        1 => weights.map(|weight| apply_to_one(weight, x.clone())),
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

/// Decode on a device that orders its work itself.
fn apply_to_one(weight: Tensor<2>, x: Tensor<3>) -> Tensor<3> {
    x.matmul(weight.unsqueeze::<3>().transpose())
}

/// Decode on the CPU: every number of a matrix is read for one position or for few, so reading
/// is all that costs. One thread does not read as fast as the memory can. The matrices are seen
/// as blocks of rows, of which each thread takes the next.
fn apply_to_few<const N: usize>(weights: [Tensor<2>; N], x: Tensor<3>) -> [Tensor<3>; N] {
    /// So many numbers are worth sharing.
    const MANY: usize = 1 << 19;
    let [batch, seq, n_in] = x.dims();
    let positions = batch * seq;
    let x = x.reshape([1, positions, n_in]);
    let product = |block: Tensor<2>| {
        let [rows, _] = block.dims();
        let tile = rows_of_tile(positions, rows);
        // Views: to lay out a transposed matrix anew, all of it would be copied.
        let tiles = block.reshape([rows / tile, tile, n_in]).transpose();
        let y = x.clone().matmul(tiles); // [tiles, positions, tile]
        match rows == tile {
            true => y,
            false => y.swap_dims(0, 1).reshape([1, positions, rows]),
        }
    };

    let numbers: usize = weights.iter().map(|weight| weight.shape().num_elements()).sum();
    if numbers < MANY {
        return weights.map(|weight| {
            let [n_out, _] = weight.dims();
            product(weight).reshape([batch, seq, n_out])
        });
    }
    let rows = |n_out: usize| rows_of_block(positions, n_out);
    let blocks = weights.iter().flat_map(|weight| {
        let [n_out, _] = weight.dims();
        weight.clone().split(rows(n_out), 0)
    });
    let mut products = threads::map(blocks.collect(), product).into_iter();
    weights.map(|weight| {
        let [n_out, _] = weight.dims();
        let blocks = n_out.div_ceil(rows(n_out));
        Tensor::cat(products.by_ref().take(blocks).collect(), 2).reshape([batch, seq, n_out])
    })
}

/// The backend multiplies up to so many pairs of a position and a row at once. Then it reads
/// each row once for all positions.
const PAIRS_AT_ONCE: usize = 256;

/// How many of the `rows` of a block are multiplied with all positions at once.
fn rows_of_tile(positions: usize, rows: usize) -> usize {
    /// With fewer, each is not worth the call.
    const FEWEST: usize = 8;
    let most = PAIRS_AT_ONCE / positions;
    match positions {
        // For one position it is faster when there are more.
        1 => rows,
        _ => (FEWEST..=most).rev().find(|tile| rows.is_multiple_of(*tile)).unwrap_or(rows),
    }
}

/// How many of the `n_out` rows of a matrix are one thread's share at a time.
fn rows_of_block(positions: usize, n_out: usize) -> usize {
    /// Enough for many threads.
    const MOST: usize = 32;
    match positions {
        1 => n_out.div_ceil((n_out / (PAIRS_AT_ONCE + 1)).clamp(1, MOST)),
        _ => 4 * PAIRS_AT_ONCE / positions.next_power_of_two(),
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Distribution};

    use super::*;

    /// One position and few give what they give among many, in one block, in several, and
    /// where the last block is smaller.
    #[test]
    fn few_positions_give_what_they_give_among_others() {
        let device = Device::default();
        let normal = Distribution::Normal(0.0, 1.0);
        for (n_out, n_in) in [(48, 16), (512, 48), (32 * 1024, 64), (50_257, 48)] {
            let weight = Tensor::<2>::random([n_out, n_in], normal, &device);
            let x = Tensor::<3>::random([1, 20, n_in], normal, &device);
            let many = apply(weight.clone(), x.clone());
            for few in [1, 2, 3, 8, 9] {
                let some = apply(weight.clone(), x.clone().narrow(1, 20 - few, few));
                assert_eq!(some.dims(), [1, few, n_out]);
                let distance = many.clone().narrow(1, 20 - few, few) - some;
                let distance = distance.abs().max().into_scalar::<f32>();
                assert!(distance < 1e-4, "{few} of {n_out} x {n_in}: {distance}");
            }
        }
    }

    #[test]
    fn matrices_that_are_multiplied_together_keep_their_order() {
        let device = Device::default();
        let normal = Distribution::Normal(0.0, 1.0);
        let weights =
            [700, 300, 900].map(|n_out| Tensor::<2>::random([n_out, 512], normal, &device));
        let x = Tensor::<3>::random([1, 1, 512], normal, &device);
        let together = apply_all(weights.clone(), x.clone());
        for (weight, y) in weights.into_iter().zip(together) {
            let alone = apply_to_one(weight, x.clone());
            assert_eq!(y.dims(), alone.dims());
            assert!((y - alone).abs().max().into_scalar::<f32>() < 1e-4);
        }
    }
}
