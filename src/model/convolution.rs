//! Gated short convolutions, which stand in place of attention in most layers of LFM2.
//!
//! From its input a layer makes two gates and a vector. The first gate multiplies the vector, a causal convolution
//! adds the last few of these products up, and the second gate multiplies the sum. What a position needs of those
//! before it are the last products: a state of fixed size, however long the text is.

use burn::module::Module;
use burn::tensor::{DType, Tensor, TensorData};

use super::architecture::to_host;
use super::config::{Convolution, LlamaConfig, ModelConfig};
use super::linear::Linear;
use super::pass::Pass;
use super::source::{LoadLinear, Role, Source};
use crate::error::Result;
use crate::kernels::{self, recorded};
use crate::kv::StateShape;

/// A gated short convolution. Its fields are named as in a Hugging Face checkpoint.
#[derive(Module, Debug)]
pub struct ShortConvolution<L = Linear> {
    pub(super) in_proj: L,
    pub(super) out_proj: L,
    #[module(skip)]
    pub(super) core: ConvolutionCore,
}

/// What is between the two linear layers. States are in the memory of the host, on every device, and so this is
/// computed there.
#[derive(Debug, Clone)]
pub(super) struct ConvolutionCore {
    convolution: kernels::Convolution,
    d_model: usize,
    /// Its number among the layers that have states.
    layer: usize,
}

impl Convolution {
    /// What a layer remembers, of vectors of `d_model` numbers.
    pub(super) fn state(self, d_model: usize) -> StateShape {
        StateShape { state: (self.width - 1) * d_model, row: d_model }
    }
}

impl ConvolutionCore {
    /// Of the tensors in `name`, for layer `index`.
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        (config, llama, index): (&ModelConfig, &LlamaConfig, usize),
        Convolution { width, bias }: Convolution,
    ) -> Result<Self> {
        let d_model = config.d_model;
        let role = Role::Convolution { width };
        let taps = weights.numbers(&format!("{name}.conv.weight"), d_model * width, role)?;
        let bias =
            bias.then(|| weights.numbers(&format!("{name}.conv.bias"), d_model, Role::Layer));
        Ok(Self {
            convolution: kernels::Convolution::new(&taps, width, bias.transpose()?),
            d_model,
            layer: llama.state_layers(index),
        })
    }

    /// The gates, and what they multiply, `[seq, 3 * d_model]` -> `[seq, d_model]`.
    pub(super) fn forward(&self, projected: &[f32], pass: &mut Pass<'_>) -> Vec<f32> {
        let d_model = self.d_model;
        let shape = StateShape { state: self.convolution.state(), row: d_model };
        let rows = projected.chunks_exact(3 * d_model);
        let gated = rows.clone().flat_map(|row| {
            let (gate, x) = (&row[..d_model], &row[2 * d_model..]);
            gate.iter().zip(x).map(|(gate, x)| gate * x)
        });
        let gated: Vec<f32> = gated.collect();
        let mut mixed = pass.advance(self.layer, shape, &gated, |state, rows| {
            recorded::convolve(&self.convolution, state, rows)
        });
        for (mixed, row) in mixed.chunks_exact_mut(d_model).zip(rows) {
            let gate = &row[d_model..2 * d_model];
            mixed.iter_mut().zip(gate).for_each(|(mixed, gate)| *mixed *= gate);
        }
        mixed
    }
}

impl<L: LoadLinear> ShortConvolution<L> {
    pub(super) fn load(
        weights: &dyn Source,
        name: &str,
        (config, llama, index): (&ModelConfig, &LlamaConfig, usize),
        shape: Convolution,
    ) -> Result<Self> {
        let d_model = config.d_model;
        let linear = |part: &str, shape_of| {
            L::load(weights, &format!("{name}.{part}"), shape_of, Role::Layer, shape.bias)
        };
        Ok(Self {
            in_proj: linear("in_proj", [3 * d_model, d_model])?,
            out_proj: linear("out_proj", [d_model, d_model])?,
            core: ConvolutionCore::load(weights, name, (config, llama, index), shape)?,
        })
    }
}

impl ShortConvolution {
    /// `[batch, seq, d_model]` -> `[batch, seq, d_model]`
    pub(super) fn forward(&self, x: Tensor<3>, pass: &mut Pass<'_>) -> Tensor<3> {
        self.output(self.mixed(x, pass))
    }

    /// What the last linear layer reads, `[batch, seq, d_model]`.
    pub(super) fn mixed(&self, x: Tensor<3>, pass: &mut Pass<'_>) -> Tensor<3> {
        let projected = self.in_proj.forward(x.clone());
        // A device that fails here also fails where the logits are read.
        let Ok(projected) = to_host(projected) else {
            return x.zeros_like();
        };
        let mixed = TensorData::new(self.core.forward(&projected, pass), x.dims());
        Tensor::<3>::from_data(mixed, (&x.device(), DType::F32)).cast(x.dtype())
    }

    pub(super) fn output(&self, mixed: Tensor<3>) -> Tensor<3> {
        self.out_proj.forward(mixed)
    }
}
