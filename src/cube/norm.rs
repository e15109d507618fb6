//! RMSNorm in one launch, with the sum before it where there is one.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, backend_extension};
use burn::tensor::Tensor;
use burn_cubecl::cubecl::prelude::{Tensor as Buffer, *};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{CubeBackend, cubecl};

use super::reduce::{LANES, cubes, number, sum_of_squares, units};
use super::{address_type, element, empty_like};

#[backend_extension(Cube)]
trait NormOps: Backend {
    /// As [`rms_norm`].
    fn rms_norm(x: FloatTensor<Self>, weight: FloatTensor<Self>, eps: f32) -> FloatTensor<Self>;

    /// As [`add_rms_norm`].
    fn add_rms_norm(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        eps: f32,
    ) -> (FloatTensor<Self>, FloatTensor<Self>);
}

/// `x`, `[..., d]`, divided by the root of the mean of its squares, times `weight`, `[d]`: the shape of `x`.
/// The mean is taken in f32.
pub(crate) fn rms_norm<const D: usize>(x: Tensor<D>, weight: Tensor<1>, eps: f32) -> Tensor<D> {
    let [x, weight] = [x.into_dispatch(), weight.into_dispatch()];
    Tensor::from_dispatch(<Dispatch as NormOps>::rms_norm(x, weight, eps))
}

/// The sum of `x` and `y`, both `[..., d]`, and its [`rms_norm`].
pub(crate) fn add_rms_norm<const D: usize>(
    x: Tensor<D>,
    y: Tensor<D>,
    weight: Tensor<1>,
    eps: f32,
) -> [Tensor<D>; 2] {
    let [x, y, weight] = [x.into_dispatch(), y.into_dispatch(), weight.into_dispatch()];
    let (sum, normed) = <Dispatch as NormOps>::add_rms_norm(x, y, weight, eps);
    [sum, normed].map(Tensor::from_dispatch)
}

impl NormOps for CubeBackend {
    fn rms_norm(x: FloatTensor<Self>, weight: FloatTensor<Self>, eps: f32) -> FloatTensor<Self> {
        let x = into_contiguous(x);
        let (output, width) = (empty_like(&x), width(&weight));
        norm_rows::launch(
            &x.client.clone(),
            cubes(x.meta.num_elements() / width),
            units(&x, LANES),
            address_type([&x]),
            x.clone().into_tensor_arg(),
            weight.into_tensor_arg(),
            output.clone().into_tensor_arg(),
            eps,
            width,
            element(&x),
        );
        output
    }

    fn add_rms_norm(
        x: FloatTensor<Self>,
        y: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        eps: f32,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let [x, y] = [into_contiguous(x), into_contiguous(y)];
        let ([sum, output], width) = ([empty_like(&x), empty_like(&x)], width(&weight));
        add_and_norm_rows::launch(
            &x.client.clone(),
            cubes(x.meta.num_elements() / width),
            units(&x, LANES),
            address_type([&x]),
            x.clone().into_tensor_arg(),
            y.into_tensor_arg(),
            weight.into_tensor_arg(),
            sum.clone().into_tensor_arg(),
            output.clone().into_tensor_arg(),
            eps,
            width,
            element(&x),
        );
        (sum, output)
    }
}

/// The length of a vector of weights.
fn width(weight: &CubeTensor) -> usize {
    weight.meta.num_elements()
}

/// A cube takes a row.
#[cube(launch, address_type = "dynamic")]
fn norm_rows<T: Float>(
    x: &Buffer<T>,
    weight: &Buffer<T>,
    output: &mut Buffer<T>,
    eps: f32,
    #[comptime] width: usize,
    #[define(T)] _element: ElemType,
) {
    let first = CUBE_POS * width;
    if first >= x.len() {
        terminate!();
    }
    norm_row(x, ComptimeOption::new_None(), weight, output, first, eps, width);
}

/// As [`norm_rows`], of the sum of `x` and `y`, which is written too.
#[cube(launch, address_type = "dynamic")]
fn add_and_norm_rows<T: Float>(
    x: &Buffer<T>,
    y: &Buffer<T>,
    weight: &Buffer<T>,
    sum: &mut Buffer<T>,
    output: &mut Buffer<T>,
    eps: f32,
    #[comptime] width: usize,
    #[define(T)] _element: ElemType,
) {
    let first = CUBE_POS * width;
    if first >= x.len() {
        terminate!();
    }
    let y = ComptimeOption::new_Some(y);
    for i in range_stepped(first + UNIT_POS as usize, first + width, CUBE_DIM as usize) {
        sum[i] = number(x, y, i);
    }
    norm_row(x, y, weight, output, first, eps, width);
}

// ANCHOR: norm_row
/// Writes the norm of `x[first..first + width]`, to which `y` is added, to the same place of `output`.
#[cube]
fn norm_row<T: Float>(
    x: &Buffer<T>,
    y: ComptimeOption<&Buffer<T>>,
    weight: &Buffer<T>,
    output: &mut Buffer<T>,
    first: usize,
    eps: f32,
    #[comptime] width: usize,
) {
    let mean = sum_of_squares(x, y, first, width, LANES) / (width as f32);
    let factor = 1.0 / f32::sqrt(mean + eps);
    for i in range_stepped(UNIT_POS as usize, width, CUBE_DIM as usize) {
        let scaled = f32::cast_from(number(x, y, first + i)) * factor;
        output[first + i] = T::cast_from(scaled * f32::cast_from(weight[i]));
    }
}
// ANCHOR_END: norm_row
