//! A gated activation in one launch.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, SQRT_2};

use burn::tensor::Tensor;
use burn_cubecl::cubecl;
use burn_cubecl::cubecl::prelude::{Tensor as Buffer, *};
use burn_cubecl::kernel::into_contiguous;

use super::{address_type, element, empty_like, from_cube, into_cube, one_unit_each};
use crate::activation::Activation;

/// `activation(gate) * up`, number by number: all three have one shape, `[batch, seq, d_ff]`.
pub(crate) fn gated(gate: Tensor<3>, up: Tensor<3>, activation: Activation) -> Tensor<3> {
    let [gate, up] = [gate, up].map(|x| into_contiguous(into_cube(x)));
    let output = empty_like(&gate);
    let (count, dim) = one_unit_each(&gate, gate.meta.num_elements());
    gate_numbers::launch(
        &gate.client.clone(),
        count,
        dim,
        address_type([&gate]),
        gate.clone().into_tensor_arg(),
        up.into_tensor_arg(),
        output.clone().into_tensor_arg(),
        activation,
        element(&gate),
    );
    from_cube(output)
}

/// A unit takes one number.
#[cube(launch, address_type = "dynamic")]
fn gate_numbers<T: Float>(
    gate: &Buffer<T>,
    up: &Buffer<T>,
    output: &mut Buffer<T>,
    #[comptime] activation: Activation,
    #[define(T)] _element: ElemType,
) {
    if ABSOLUTE_POS >= gate.len() {
        terminate!();
    }
    output[ABSOLUTE_POS] = gated_number::<T>(gate[ABSOLUTE_POS], up[ABSOLUTE_POS], activation);
}

/// A number of [`gated`], computed in f32.
#[cube]
#[allow(
    clippy::manual_clamp,
    reason = "the operations of the kernels on the CPU, in their order"
)]
pub(super) fn gated_number<T: Float>(gate: T, up: T, #[comptime] activation: Activation) -> T {
    let active = activated(f32::cast_from(gate), activation);
    let mut factor = f32::cast_from(up);
    if comptime!(activation == Activation::ClampedSilu) {
        factor = f32::max(f32::min(factor, Activation::CLAMP), -Activation::CLAMP) + 1.0;
    }
    T::cast_from(active * factor)
}

/// The greatest argument of `exp` here, and of `tanh`: beyond it `exp` is infinite, which shaders may take
/// for any number, and `tanh` is 1.
const MOST: f32 = 80.0;

#[cube]
fn activated(x: f32, #[comptime] activation: Activation) -> f32 {
    match comptime!(activation) {
        Activation::Silu => x / (1.0 + f32::exp(f32::min(-x, MOST))),
        Activation::Gelu => 0.5 * x * (1.0 + Erf::erf(x * FRAC_1_SQRT_2)),
        Activation::GeluTanh => {
            // The square root of 2 / pi.
            let root = comptime!(FRAC_2_SQRT_PI / SQRT_2);
            let inner = root * (x + 0.044_715 * x * x * x);
            let below = f32::min(inner, 10.0);
            0.5 * x * (1.0 + f32::tanh(f32::max(below, -10.0)))
        }
        Activation::ClampedSilu => {
            let x = f32::min(x, Activation::CLAMP);
            x / (1.0 + f32::exp(f32::min(-x * Activation::SHARPNESS, MOST)))
        }
        Activation::Sigmoid => 1.0 / (1.0 + f32::exp(f32::min(-x, MOST))),
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, TensorData};

    use super::*;
    use crate::cube::devices;
    use crate::cube::tests::close;

    fn reference(x: f64, activation: Activation) -> f64 {
        match activation {
            Activation::Silu => x / (1.0 + (-x).exp()),
            Activation::Gelu => 0.5 * x * (1.0 + libm::erf(x / 2f64.sqrt())),
            Activation::GeluTanh => {
                let root = (2.0 / std::f64::consts::PI).sqrt();
                0.5 * x * (1.0 + (root * (x + 0.044_715 * x.powi(3))).tanh())
            }
            Activation::ClampedSilu => x.min(7.0) / (1.0 + (-1.702 * x.min(7.0)).exp()),
            Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        }
    }

    /// Also where `exp` is beyond f32, and where `tanh` is 1.
    #[test]
    fn a_gate_is_activated_and_multiplied() {
        let steps = (-40..=40).map(|i| i as f32 / 4.0);
        let gate: Vec<f32> = steps.chain([-200.0, -100.0, 100.0, 200.0]).collect();
        let up: Vec<f32> = (0..gate.len()).map(|i| (i % 19) as f32 - 9.5).collect();
        for device in devices() {
            for activation in [
                Activation::Silu,
                Activation::Gelu,
                Activation::GeluTanh,
                Activation::ClampedSilu,
                Activation::Sigmoid,
            ] {
                let [x, y] = [&gate, &up].map(|values| {
                    let data = TensorData::new(values.clone(), [1, 1, values.len()]);
                    Tensor::<3>::from_data(data, (&device, DType::F32))
                });
                let found = gated(x, y, activation).try_into_vec_as::<f32>().unwrap();
                let numbers = gate.iter().zip(&up);
                let expected = numbers.map(|(&x, &y)| {
                    let y = match activation {
                        Activation::ClampedSilu => f64::from(y).clamp(-7.0, 7.0) + 1.0,
                        _ => f64::from(y),
                    };
                    reference(f64::from(x), activation) * y
                });
                close(&found, &expected.collect::<Vec<_>>(), 1e-5);
            }
        }
    }
}
