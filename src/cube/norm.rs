//! RMSNorm in one launch, with the sum before it where there is one.

use burn::tensor::Tensor;
use burn_cubecl::cubecl;
use burn_cubecl::cubecl::prelude::{Tensor as Buffer, *};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;

use super::reduce::{LANES, MOST_UNROLLED, cubes, number, sum_of_squares, units};
use super::{address_type, element, empty_like, from_cube, into_cube};

/// `x`, `[..., d]`, divided by the root of the mean of its squares, times `weight`, `[d]`: the shape of `x`.
/// The mean is taken in f32.
pub(crate) fn rms_norm<const D: usize>(x: Tensor<D>, weight: Tensor<1>, eps: f32) -> Tensor<D> {
    let (x, weight) = (into_contiguous(into_cube(x)), into_cube(weight));
    let (output, width) = (empty_like(&x), width(&weight));
    let units = units(&x, LANES);
    norm_rows::launch(
        &x.client.clone(),
        cubes(x.meta.num_elements() / width),
        CubeDim::new_1d(units),
        address_type([&x]),
        x.clone().into_tensor_arg(),
        weight.into_tensor_arg(),
        output.clone().into_tensor_arg(),
        eps,
        width,
        units as usize,
        element(&x),
    );
    from_cube(output)
}

/// The sum of `x` and `y`, both `[..., d]`, and its [`rms_norm`].
pub(crate) fn add_rms_norm<const D: usize>(
    x: Tensor<D>,
    y: Tensor<D>,
    weight: Tensor<1>,
    eps: f32,
) -> [Tensor<D>; 2] {
    let ([x, y], weight) = ([x, y].map(|x| into_contiguous(into_cube(x))), into_cube(weight));
    let ([sum, output], width) = ([empty_like(&x), empty_like(&x)], width(&weight));
    let units = units(&x, LANES);
    add_and_norm_rows::launch(
        &x.client.clone(),
        cubes(x.meta.num_elements() / width),
        CubeDim::new_1d(units),
        address_type([&x]),
        x.clone().into_tensor_arg(),
        y.into_tensor_arg(),
        weight.into_tensor_arg(),
        sum.clone().into_tensor_arg(),
        output.clone().into_tensor_arg(),
        eps,
        width,
        units as usize,
        element(&x),
    );
    [sum, output].map(from_cube)
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
    #[comptime] units: usize,
    #[define(T)] _element: ElemType,
) {
    let first = CUBE_POS * width;
    if first >= x.len() {
        terminate!();
    }
    norm_row(x, ComptimeOption::new_None(), weight, output, first, eps, width, units);
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
    #[comptime] units: usize,
    #[define(T)] _element: ElemType,
) {
    let first = CUBE_POS * width;
    if first >= x.len() {
        terminate!();
    }
    let y = ComptimeOption::new_Some(y);
    norm_row(x, y, weight, output, first, eps, width, units);
    for i in range_stepped(first + UNIT_POS as usize, first + width, units) {
        sum[i] = number(x, y, i);
    }
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
    #[comptime] units: usize,
) {
    // The weights that this unit needs: they come while it waits for the sum.
    let steps = comptime!(width.div_ceil(units));
    let mut weights = Array::<T>::new(steps);
    #[unroll(steps <= MOST_UNROLLED)]
    for step in 0..steps {
        let i = UNIT_POS as usize + step * units;
        if i < width {
            weights[step] = weight[i];
        }
    }
    let mean = sum_of_squares(x, y, first, width, LANES) / (width as f32);
    let factor = 1.0 / f32::sqrt(mean + eps);
    #[unroll(steps <= MOST_UNROLLED)]
    for step in 0..steps {
        let i = UNIT_POS as usize + step * units;
        if i < width {
            let scaled = f32::cast_from(number(x, y, first + i)) * factor;
            output[first + i] = T::cast_from(scaled * f32::cast_from(weights[step]));
        }
    }
}
// ANCHOR_END: norm_row

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device, TensorData};

    use super::*;
    use crate::cube::devices;
    use crate::cube::tests::{close, numbers};

    const EPS: f32 = 1e-5;

    fn tensor(values: &[f32], width: usize, device: &Device) -> Tensor<2> {
        let data = TensorData::new(values.to_vec(), [values.len() / width, width]);
        Tensor::from_data(data, (device, DType::F32))
    }

    fn weights(width: usize, device: &Device) -> Tensor<1> {
        tensor(&numbers(width, 9), width, device).reshape([width as i32])
    }

    /// In f64.
    fn reference(row: &[f32], weights: &[f32]) -> Vec<f64> {
        let squares = row.iter().map(|&x| f64::from(x) * f64::from(x));
        let mean = squares.sum::<f64>() / row.len() as f64;
        let factor = 1.0 / (mean + f64::from(EPS)).sqrt();
        row.iter().zip(weights).map(|(&x, &w)| f64::from(x) * factor * f64::from(w)).collect()
    }

    fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.cast(DType::F32).try_into_vec_as::<f32>().unwrap()
    }

    #[test]
    fn rows_of_every_width_are_normed_each_on_its_own() {
        for device in devices() {
            for width in [1, 2, 31, 64, 255, 256, 257, 576] {
                let (x, y) = (numbers(3 * width, 1), numbers(3 * width, 2));
                let weight = weights(width, &device);
                let normed = host(rms_norm(tensor(&x, width, &device), weight.clone(), EPS));
                let [a, b] = [&x, &y].map(|x| tensor(x, width, &device));
                let [sum, normed_sum] = add_rms_norm(a, b, weight.clone(), EPS).map(host);
                for row in 0..3 {
                    let of = |x: &[f32]| x[row * width..(row + 1) * width].to_vec();
                    let added: Vec<f32> = of(&x).iter().zip(of(&y)).map(|(x, y)| x + y).collect();
                    assert_eq!(of(&sum), added, "{width}");
                    let weights = numbers(width, 9);
                    close(&of(&normed), &reference(&of(&x), &weights), 1e-6);
                    close(&of(&normed_sum), &reference(&added, &weights), 1e-6);
                    let alone = tensor(&of(&x), width, &device);
                    let alone = host(rms_norm(alone, weight.clone(), EPS));
                    assert_eq!(alone, of(&normed), "a row has the same bits alone");
                }
            }
        }
    }

    #[test]
    fn squares_beyond_f16_are_summed_in_f32() {
        for device in devices() {
            if !device.supports_dtype(DType::F16) {
                eprintln!("{device:?} does not compute in f16");
                continue;
            }
            let x: Vec<f32> = numbers(300, 3).iter().map(|x| x * 1000.0).collect();
            let row = tensor(&x, 300, &device).cast(DType::F16);
            let weight = weights(300, &device).cast(DType::F16);
            let [x, weights] = [host(row.clone()), host(weight.clone())];
            let expected = reference(&x, &weights);
            // Half of the distance between two numbers of f16, relative to either.
            close(&host(rms_norm(row, weight, EPS)), &expected, 1.0 / 2048.0);
        }
    }
}
