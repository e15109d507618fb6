//! A gated activation in one launch.

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, SQRT_2};

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, backend_extension};
use burn::tensor::Tensor;
use burn_cubecl::cubecl::prelude::{Tensor as Buffer, *};
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::{CubeBackend, cubecl};

use super::{address_type, element, empty_like, one_unit_each};
use crate::model::activation::Activation;

#[backend_extension(Cube)]
trait GateOps: Backend {
    /// As [`gated`].
    fn gated(
        gate: FloatTensor<Self>,
        up: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self>;
}

/// `activation(gate) * up`, number by number: all three have one shape, `[batch, seq, d_ff]`.
pub(crate) fn gated(gate: Tensor<3>, up: Tensor<3>, activation: Activation) -> Tensor<3> {
    let [gate, up] = [gate.into_dispatch(), up.into_dispatch()];
    Tensor::from_dispatch(<Dispatch as GateOps>::gated(gate, up, activation))
}

impl GateOps for CubeBackend {
    fn gated(
        gate: FloatTensor<Self>,
        up: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self> {
        let [gate, up] = [into_contiguous(gate), into_contiguous(up)];
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
        output
    }
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
    let active = activated(f32::cast_from(gate[ABSOLUTE_POS]), activation);
    output[ABSOLUTE_POS] = T::cast_from(active * f32::cast_from(up[ABSOLUTE_POS]));
}

/// The greatest argument of `exp` here, and of `tanh`: beyond it `exp` is infinite, which shaders may take
/// for any number, and `tanh` is 1.
const MOST: f32 = 80.0;

// ANCHOR: activated
#[cube]
fn activated(x: f32, #[comptime] activation: Activation) -> f32 {
    match comptime!(activation) {
        Activation::Silu => x / (1.0 + f32::exp(f32::min(-x, MOST))),
        Activation::Gelu => 0.5 * x * (1.0 + Erf::erf(x * FRAC_1_SQRT_2)),
        Activation::GeluTanh => {
            // The square root of 2 / pi.
            let root = comptime!(FRAC_2_SQRT_PI / SQRT_2);
            let inner = root * (x + 0.044_715 * x * x * x);
            let bounded = f32::max(f32::min(inner, 10.0), -10.0);
            0.5 * x * (1.0 + f32::tanh(bounded))
        }
    }
}
// ANCHOR_END: activated
