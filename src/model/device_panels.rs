//! Panels in the memory of a device.

use std::array;
use std::ops::Range;

use burn::module::Module;
use burn::tensor::{AllocationProperty, Bytes, DType, Device, Int, Tensor, TensorData};

use super::activation::Activation;
use super::linear::{Linear, Weight};
use crate::cube::linear::{self, Matrices};
use crate::kernels::Panels;

/// A matrix with fewer outputs is multiplied together with its neighbors.
const NARROW: usize = 1024;

/// The panels of a matrix `[out, in]` in the memory of a device, packed as for the CPU.
#[derive(Module, Debug)]
pub struct DevicePanels {
    /// The panels of this matrix and of those that it was [joined](Self::join) with, as words of 32 bits.
    words: Tensor<1, Int>,
    #[module(skip)]
    matrices: Matrices,
    /// Which of `matrices` this is.
    matrix: usize,
    /// The type of activations.
    #[module(skip)]
    dtype: DType,
    /// Whether the bits of a row must depend on no other, also where Burn has a faster product.
    batch_invariant: bool,
}

impl DevicePanels {
    /// Copies panels to a device that computes in `dtype`.
    pub(crate) fn upload(
        panels: Panels,
        device: &Device,
        dtype: DType,
        batch_invariant: bool,
    ) -> Self {
        let ([n_out, n_in], format) = (panels.shape(), panels.format());
        let bytes = panels.into_bytes();
        let shape = [bytes.len() / size_of::<u32>()];
        let bytes = Bytes::from_shared(bytes, AllocationProperty::Other);
        let data = TensorData::from_bytes(bytes, shape, DType::U32);
        let words = Tensor::from_data(data, (device, DType::U32));
        let matrices = Matrices { format, n_in, n_out: vec![n_out] };
        Self { words, matrices, matrix: 0, dtype, batch_invariant }
    }

    /// Puts the panels of layers that have the same inputs behind each other, where all are in panels of
    /// one format, so that [`products`](Self::products) computes them in one launch.
    pub(crate) fn join<const N: usize>(linears: [&mut Linear; N]) {
        let all = linears.each_ref().map(|linear| match &linear.weight {
            Weight::Panels(panels) => Some(panels.clone()),
            Weight::Dense(_) => None,
        });
        let all: Vec<_> = all.into_iter().flatten().collect();
        let Some(first) = all.first() else {
            return;
        };
        let is_like_first = |panels: &Self| {
            let (one, other) = (&panels.matrices, &first.matrices);
            one.format == other.format && one.n_in == other.n_in && one.n_out.len() == 1
        };
        if all.len() < N || !all.iter().all(is_like_first) {
            return;
        }
        let words = Tensor::cat(all.iter().map(|panels| panels.words.clone()).collect(), 0);
        let n_out = all.iter().flat_map(|panels| panels.matrices.n_out.clone()).collect();
        let matrices = Matrices { n_out, ..first.matrices.clone() };
        for (matrix, linear) in linears.into_iter().enumerate() {
            let (words, matrices) = (words.clone(), matrices.clone());
            linear.weight = Weight::Panels(Self { words, matrices, matrix, ..first.clone() });
        }
    }

    /// `[batch, seq, in]` -> `[batch, seq, out]`
    pub(crate) fn product(&self, x: Tensor<3>) -> Tensor<3> {
        let [product] = self.products_of([self.matrix], x);
        product
    }

    /// The products with `linears`, without their biases, in one launch, where they are the ones that
    /// were [joined](Self::join): `[batch, seq, in]` -> `[batch, seq, out]` for each.
    pub(super) fn products<const N: usize>(
        linears: [&Linear; N],
        x: &Tensor<3>,
    ) -> Option<[Tensor<3>; N]> {
        match &linears.first()?.weight {
            Weight::Panels(panels) if panels.matrices.n_out.len() == N => {
                Some(panels.products_of(array::from_fn(|i| i), x.clone()))
            }
            _ => None,
        }
    }

    /// `activation(gate) * up` of the products with both, in one launch, where a kernel does that and they were
    /// [joined](Self::join): `[batch, seq, in]` -> `[batch, seq, out]`.
    pub(super) fn gated(
        linears: [&Linear; 2],
        x: &Tensor<3>,
        activation: Activation,
    ) -> Option<Tensor<3>> {
        let Weight::Panels(Self { words, matrices, .. }) = &linears[0].weight else {
            return None;
        };
        let [batch, seq, n_in] = x.dims();
        let is_biased = linears.iter().any(|linear| linear.bias.is_some());
        if is_biased || matrices.n_out.len() != linears.len() {
            return None;
        }
        let x = x.clone().reshape([batch * seq, n_in]);
        let gated = linear::gated_product(x, words.clone(), matrices, activation)?;
        Some(gated.reshape([batch as i32, seq as i32, -1]))
    }

    /// The products with matrices that follow each other.
    fn products_of<const N: usize>(&self, matrices: [usize; N], x: Tensor<3>) -> [Tensor<3>; N] {
        let [batch, seq, n_in] = x.dims();
        let x = x.reshape([batch * seq, n_in]);
        let shape = |matrix: usize| [batch, seq, self.matrices.n_out[matrix]];
        let range = matrices[0]..matrices[0] + N;
        if !self.batch_invariant && linear::is_for_burn(&x, &self.matrices) {
            let products = self.products_of_burn(range, &x);
            return array::from_fn(|i| products[i].clone().reshape(shape(matrices[i])));
        }
        let products = linear::products(x, self.words.clone(), &self.matrices, range);
        array::from_fn(|i| products[i].clone().reshape(shape(matrices[i])))
    }

    /// The products of Burn: `[rows, in]` -> `[rows, out]` for each matrix. A narrow matrix alone has too
    /// few tiles to fill a device, so it is multiplied together with its neighbors.
    fn products_of_burn(&self, range: Range<usize>, x: &Tensor<2>) -> Vec<Tensor<2>> {
        let n_outs = &self.matrices.n_out[range.clone()];
        let unpack = |range| linear::unpack(self.words.clone(), &self.matrices, range, self.dtype);
        if n_outs.iter().any(|&n_out| n_out < NARROW)
            && let Some(weights) = unpack(range.clone())
        {
            let all = x.clone().matmul(weights);
            let starts = n_outs.iter().scan(0, |end, n_out| {
                *end += n_out;
                Some(*end - n_out)
            });
            return starts
                .zip(n_outs)
                .map(|(start, &n_out)| all.clone().narrow(1, start, n_out))
                .collect();
        }
        range
            .map(|i| {
                let weights = unpack(i..i + 1).unwrap_or_else(|| self.unpacked(i).transpose());
                x.clone().matmul(weights)
            })
            .collect()
    }

    /// All weights of a matrix: `[out, in]`.
    pub(crate) fn unpacked(&self, matrix: usize) -> Tensor<2> {
        let ids = Tensor::arange(self.matrices.ids_of(matrix), &self.words.device());
        linear::lookup(ids, self.words.clone(), &self.matrices, self.dtype)
    }

    /// The rows of an embedding: `[batch, seq]` -> `[batch, seq, in]`.
    pub(crate) fn rows(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        let [batch, seq] = ids.dims();
        let ids = ids.reshape([batch * seq]);
        let rows = linear::lookup(ids, self.words.clone(), &self.matrices, self.dtype);
        rows.reshape([batch, seq, self.matrices.n_in])
    }
}
