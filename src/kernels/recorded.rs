//! The kernels as the forward pass calls them: each call reports its cost to a [`trace`](super::trace).

use super::attention::{self, Queries, Scoring};
use super::block::{BLOCK, LayerLayout};
use super::convolution::Convolution;
use super::delta_rule::{DeltaHeads, DeltaRows};
use super::elementwise;
use super::linear::{self, Layer, LayersOf};
use super::panels::Panels;
use super::trace::{Cost, Operation, call};
use crate::activation::Activation;

/// Applies each of `layers` to the same `x`, `[rows, n_in]`. Each `y` becomes `[rows, n_out]`.
pub fn linear<const N: usize>(
    layers: [Layer<'_>; N],
    x: &[f32],
    rows: usize,
    y: [&mut Vec<f32>; N],
) {
    let cost = || layers.iter().map(|layer| linear_cost(layer.weights, rows)).sum();
    call(Operation::Linear, cost, || linear::linear_into(layers, x, rows, y));
}

/// Applies the layers of each group to the `x` of that group. Returns `[rows, n_out]` for each layer, in order.
pub fn linear_of_groups(groups: &[LayersOf<'_>]) -> Vec<Vec<f32>> {
    let of_group = |group: &LayersOf<'_>| -> Cost {
        group.layers.iter().map(|layer| linear_cost(layer.weights, group.rows)).sum()
    };
    let cost = || groups.iter().map(of_group).sum();
    call(Operation::Linear, cost, || linear::linear_of_groups(groups))
}

/// The rows of `ids` in an embedding matrix, `[ids, width]`.
pub fn embedding(matrix: &Panels, ids: impl ExactSizeIterator<Item = usize>) -> Vec<f32> {
    let [_, width] = matrix.shape();
    let count = ids.len();
    let mut x = vec![0.0; count * width];
    let cost = || Cost {
        bytes: (count * matrix.row_bytes()) as u64 + floats(count * width),
        flops: 0,
    };
    call(Operation::Embedding, cost, || {
        for (id, x) in ids.zip(x.chunks_exact_mut(width)) {
            matrix.row(id, x);
        }
    });
    x
}

/// As [`rms_norm`](super::rms_norm).
pub fn rms_norm(x: &mut [f32], weight: &[f32], eps: f32) {
    // Per number: a square and its sum, and two products.
    call(Operation::Norm, cost_of_each(4, x), || elementwise::rms_norm(x, weight, eps));
}

/// As [`layer_norm`](super::layer_norm).
pub fn layer_norm(x: &mut [f32], weight: &[f32], bias: &[f32], eps: f32) {
    // As RMSNorm, with the mean, its subtraction and the bias.
    call(Operation::Norm, cost_of_each(7, x), || {
        elementwise::layer_norm(x, weight, bias, eps)
    });
}

/// As [`rotate`](super::rotate).
pub fn rotate(x: &mut [f32], rows: usize, head_dim: usize, cos: &[f32], sin: &[f32]) {
    // Per pair: four products and two sums.
    call(Operation::Rotation, cost_of_each(3, x), || {
        elementwise::rotate(x, rows, head_dim, cos, sin);
    });
}

/// As [`Convolution::forward`].
pub(crate) fn convolve(convolution: &Convolution, state: &mut [f32], rows: &[f32]) -> Vec<f32> {
    let cost = cost_of_each(2 * convolution.width() as u64, rows);
    call(Operation::State, cost, || convolution.forward(state, rows))
}

/// As [`DeltaHeads::forward`].
pub(crate) fn delta_rule(heads: DeltaHeads, state: &mut [f32], rows: DeltaRows<'_>) -> Vec<f32> {
    let (numbers, count) = (state.len(), rows.decay.len() / heads.value_heads);
    let cost = || Cost {
        bytes: floats(2 * numbers + count * heads.channels()),
        // Per number: it fades, and takes part in three products and their sums.
        flops: 7 * (count * numbers) as u64,
    };
    call(Operation::State, cost, || heads.forward(state, rows))
}

/// As [`activate`](super::activate).
pub fn activate(x: &mut [f32], activation: Activation) {
    call(Operation::Activation, cost_of_each(ACTIVATION_FLOPS, x), || {
        elementwise::activate(x, activation)
    });
}

/// As [`gated`](super::gated).
pub fn gated(gate: &mut [f32], up: &[f32], activation: Activation) {
    let count = up.len();
    let cost = move || Cost {
        bytes: floats(3 * count),
        flops: (ACTIVATION_FLOPS + 1) * count as u64,
    };
    call(Operation::Activation, cost, || elementwise::gated(gate, up, activation));
}

/// As [`attention`](super::attention()).
pub fn attention(
    q: &[f32],
    n_heads: usize,
    layer: LayerLayout,
    scoring: Scoring<'_>,
    sequences: &[Queries<'_>],
) -> Vec<f32> {
    let cost = |sequence| attention_cost(sequence, n_heads, layer, scoring.window);
    let cost = || sequences.iter().map(cost).sum();
    call(Operation::Attention, cost, || {
        attention::attention(q, n_heads, layer, scoring, sequences)
    })
}

/// Operations of SiLU: ten fused multiply-adds and three others for `exp`, and two more. GELU
/// differs by a few.
const ACTIVATION_FLOPS: u64 = 25;

/// The cost of changing each number of `x` in place, by `flops` operations.
fn cost_of_each(flops: u64, x: &[f32]) -> impl FnOnce() -> Cost + use<> {
    let count = x.len();
    move || Cost { bytes: floats(2 * count), flops: flops * count as u64 }
}

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
fn attention_cost(
    sequence: &Queries<'_>,
    n_heads: usize,
    layer: LayerLayout,
    window: Option<usize>,
) -> Cost {
    let (rows, width) = (sequence.rows.len(), n_heads * layer.head_dim);
    let window = window.unwrap_or(usize::MAX);
    let hidden = (sequence.start + 1).saturating_sub(window);
    let positions = sequence.start + rows - hidden;
    let stored = (positions * layer.bytes() / BLOCK) as u64;
    // Each row attends to the positions up to its own.
    let looks: usize = (1..=rows).map(|row| window.min(sequence.start + row)).sum();
    Cost {
        bytes: stored + floats(2 * rows * width),
        flops: (looks * n_heads) as u64 * (4 * layer.head_dim as u64 + ACTIVATION_FLOPS),
    }
}

/// Bounds each number of `x`: `cap * tanh(x / cap)`.
pub fn cap(x: &mut [f32], cap: f32) {
    call(Operation::Activation, cost_of_each(ACTIVATION_FLOPS, x), || {
        elementwise::cap(x, cap)
    });
}
