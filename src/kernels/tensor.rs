//! The kernels on Burn's tensors, as the network calls them.
//!
//! On `flex`, moving the numbers out of a tensor with a single owner, or into a new tensor, copies
//! nothing.

use burn::tensor::{DType, Device, Int, Tensor, TensorData};

use super::block::{BLOCK, BlockLayout};
use super::elementwise::{self, Bend};
use super::linear::{self, Layer};
use super::panels::Panels;
use super::trace::{Cost, Operation, call};
use super::{Queries, attention};

/// Whether the kernels compute on tensors of this device: on `flex`, unless gradients are kept.
pub fn serve(device: &Device) -> bool {
    #[cfg(feature = "flex")]
    return *device == Device::flex() && !device.is_autodiff();
    #[cfg(not(feature = "flex"))]
    return {
        let _ = device;
        false
    };
}

/// Applies each of `layers`, a matrix `[out, in]` with its bias `[out]`, to the same `x`:
/// `[batch, seq, in]` -> `[batch, seq, out]`.
pub fn linear<const N: usize>(
    layers: [(&Panels, Option<Tensor<1>>); N],
    x: Tensor<3>,
) -> [Tensor<3>; N] {
    let ([batch, seq, _], device) = (x.dims(), x.device());
    let x = numbers(x);
    let biases = layers.each_ref().map(|(_, bias)| bias.clone().map(numbers));
    let layers =
        std::array::from_fn(|i| Layer { weights: layers[i].0, bias: biases[i].as_deref() });
    let mut outputs = layers.iter().map(|layer| layer.weights.shape()[0]);
    let rows = batch * seq;
    let cost = || layers.iter().map(|layer| linear_cost(layer.weights, rows)).sum();
    let products = call(Operation::Linear, cost, || linear::linear(layers, &x, rows));
    products.map(|y| tensor(y, [batch, seq, outputs.next().unwrap_or(0)], &device))
}

/// Looks up the rows of `ids` in a matrix: `[batch, seq]` -> `[batch, seq, in]`.
pub fn embedding(rows: &Panels, ids: Tensor<2, Int>) -> Tensor<3> {
    let ([batch, seq], device) = (ids.dims(), ids.device());
    let [_, width] = rows.shape();
    let ids: Vec<i32> = match ids.try_into_vec_as() {
        Ok(ids) => ids,
        Err(error) => unreachable!("a tensor on the CPU can always be read: {error}"),
    };
    let mut x = vec![0.0; ids.len() * width];
    let stored = (ids.len() * rows.row_bytes()) as u64;
    let cost = || Cost { bytes: stored + floats(ids.len() * width), flops: 0 };
    call(Operation::Embedding, cost, || {
        for (id, x) in ids.iter().zip(x.chunks_exact_mut(width)) {
            rows.row(*id as usize, x);
        }
    });
    tensor(x, [batch, seq, width], &device)
}

/// Divides each vector by its root mean square, and scales it: `[..., d]` -> `[..., d]`.
pub fn rms_norm<const D: usize>(x: Tensor<D>, weight: Tensor<1>, eps: f64) -> Tensor<D> {
    let weight = numbers(weight);
    // Per number: a square and its sum, and two products.
    in_place(Operation::Norm, 4, x, |x| elementwise::rms_norm(x, &weight, eps as f32))
}

/// Normalizes each vector to mean 0 and variance 1, then scales and shifts it: `[..., d]` ->
/// `[..., d]`.
pub fn layer_norm<const D: usize>(
    x: Tensor<D>,
    weight: Tensor<1>,
    bias: Tensor<1>,
    eps: f64,
) -> Tensor<D> {
    let (weight, bias) = (numbers(weight), numbers(bias));
    // As RMSNorm, with the mean, its subtraction and the bias.
    in_place(Operation::Norm, 7, x, |x| {
        elementwise::layer_norm(x, &weight, &bias, eps as f32)
    })
}

/// Rotates the pairs of each head (RoPE), `[batch, seq, heads, head_dim]`, by angles whose cosines
/// and sines are `[seq, head_dim / 2]`.
pub fn rotate(x: Tensor<4>, cos: Tensor<2>, sin: Tensor<2>) -> Tensor<4> {
    let [_, seq, heads, head_dim] = x.dims();
    let (cos, sin) = (numbers(cos), numbers(sin));
    // Per pair: four products and two sums.
    in_place(Operation::Rotation, 3, x, |x| {
        for x in x.chunks_exact_mut(seq * heads * head_dim) {
            elementwise::rotate(x, seq, head_dim, &cos, &sin);
        }
    })
}

/// The sum of two tensors of one shape, number by number.
pub fn add<const D: usize>(x: Tensor<D>, y: Tensor<D>) -> Tensor<D> {
    let (dims, device) = (x.dims(), x.device());
    let (x, mut y) = (numbers(x), numbers(y));
    y.iter_mut().zip(&x).for_each(|(y, x)| *y += x);
    tensor(y, dims, &device)
}

/// Applies an activation function to each number.
pub fn bend(x: Tensor<3>, bend: Bend) -> Tensor<3> {
    in_place(Operation::Activation, BEND_FLOPS, x, |x| elementwise::bend(x, bend))
}

/// Applies an activation function to each number of `gate`, and multiplies by that of `up`.
pub fn bend_times(gate: Tensor<3>, up: Tensor<3>, bend: Bend) -> Tensor<3> {
    let (dims, device) = (gate.dims(), gate.device());
    let (mut gate, up) = (numbers(gate), numbers(up));
    let count = gate.len();
    let flops = (BEND_FLOPS + 1) * count as u64;
    let cost = || Cost { bytes: floats(3 * count), flops };
    call(Operation::Activation, cost, || elementwise::bend_times(&mut gate, &up, bend));
    tensor(gate, dims, &device)
}

/// Attention of all `sequences` over their KV blocks: `q` is `[1, seq, n_heads, head_dim]`, and so
/// is the result.
pub fn attend(
    q: Tensor<4>,
    layer: usize,
    layout: BlockLayout,
    sequences: &[Queries<'_>],
) -> Tensor<4> {
    let (dims, device) = (q.dims(), q.device());
    let q = numbers(q);
    let cost = || sequences.iter().map(|sequence| attention_cost(sequence, dims[2], layout)).sum();
    let mixed =
        call(Operation::Attention, cost, || attention(&q, dims[2], layer, layout, sequences));
    tensor(mixed, dims, &device)
}

/// The numbers of a tensor, in row-major order. The tensor must be f32, on a device that the
/// kernels [`serve`].
pub fn numbers<const D: usize>(x: Tensor<D>) -> Vec<f32> {
    match x.try_into_vec_as::<f32>() {
        Ok(numbers) => numbers,
        Err(error) => unreachable!("a tensor on the CPU can always be read: {error}"),
    }
}

fn tensor<const D: usize>(numbers: Vec<f32>, shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(numbers, shape), (device, DType::F32))
}

/// Changes the numbers of `x` in place, at `flops` operations for each.
fn in_place<const D: usize>(
    operation: Operation,
    flops: u64,
    x: Tensor<D>,
    change: impl FnOnce(&mut [f32]),
) -> Tensor<D> {
    let (dims, device) = (x.dims(), x.device());
    let mut x = numbers(x);
    let count = x.len();
    let cost = || Cost { bytes: floats(2 * count), flops: flops * count as u64 };
    call(operation, cost, || change(&mut x));
    tensor(x, dims, &device)
}

/// Operations of SiLU: ten fused multiply-adds and three others for `exp`, and two more. GELU
/// differs by a few.
const BEND_FLOPS: u64 = 25;

fn floats(count: usize) -> u64 {
    (count * size_of::<f32>()) as u64
}

fn linear_cost(weights: &Panels, rows: usize) -> Cost {
    let [n_out, n_in] = weights.shape();
    Cost {
        bytes: weights.bytes() as u64 + floats(rows * (n_in + n_out)),
        flops: 2 * (rows * n_in * n_out) as u64,
    }
}

/// Counts the keys and values of a head as read once for all queries.
fn attention_cost(sequence: &Queries<'_>, n_heads: usize, layout: BlockLayout) -> Cost {
    let (rows, width) = (sequence.rows.len(), n_heads * layout.head_dim);
    let positions = sequence.start + rows;
    let stored = (positions * layout.bytes() / (layout.n_layers * BLOCK)) as u64;
    // Each row attends to all positions up to its own.
    let looks = rows * sequence.start + rows * (rows + 1) / 2;
    Cost {
        bytes: stored + floats(2 * rows * width),
        flops: (looks * n_heads) as u64 * (4 * layout.head_dim as u64 + BEND_FLOPS),
    }
}
