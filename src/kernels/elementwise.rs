//! Kernels that treat each position independently: norms, RoPE, activations.

use std::ops::Range;

use super::cpu::Cpu;
use super::disjoint::Disjoint;
use super::exp::{gelu, gelu_tanh, sharp_silu, sigmoid, silu, tanh};
use super::microkernel::LANES;
use super::simd::{Isa, Kernel, fma};
use crate::activation::Activation;

/// Divides each row of `x`, `[rows, d]`, by its root mean square, and scales it by `weight`.
pub fn rms_norm(x: &mut [f32], weight: &[f32], eps: f32) {
    by_row(x, weight.len(), |x| Norm { x, weight, bias: None, eps });
}

/// Normalizes each row of `x`, `[rows, d]`, to mean 0 and variance 1, then scales and shifts it.
pub fn layer_norm(x: &mut [f32], weight: &[f32], bias: &[f32], eps: f32) {
    by_row(x, weight.len(), |x| Norm { x, weight, bias: Some(bias), eps });
}

/// Rotates queries or keys (RoPE): of the first `rotated` numbers in each head of `x`,
/// `[rows, heads, head_dim]`, the numbers `i` and `i + rotated / 2` are a point that is rotated by an
/// angle. `cos` and `sin` are those of the angles, `[rows, rotated / 2]`.
pub fn rotate(x: &mut [f32], rows: usize, head_dim: usize, cos: &[f32], sin: &[f32]) {
    if rows == 0 {
        return;
    }
    let width = x.len() / rows;
    let x = Disjoint::new(x);
    let half = cos.len() / rows;
    in_rows(rows, width, |rows| {
        // SAFETY: `in_rows` gives each row to one task.
        let x = unsafe { x.part(rows.start * width..rows.end * width) };
        let angles = rows.start * half..rows.end * half;
        let (cos, sin) = (&cos[angles.clone()], &sin[angles]);
        Rotate { x, width, head_dim, half, cos, sin }
    });
}

/// Applies an activation function to each number.
pub fn activate(x: &mut [f32], activation: Activation) {
    by_row(x, 1, |x| Activate { x, times: None, activation });
}

/// Applies an activation function to each number of `gate`, and multiplies by that of `up`.
pub fn gated(gate: &mut [f32], up: &[f32], activation: Activation) {
    let numbers = gate.len();
    assert_eq!(numbers, up.len());
    let gate = Disjoint::new(gate);
    in_rows(numbers, 1, |range| {
        // SAFETY: `in_rows` gives each number to one task.
        let x = unsafe { gate.part(range.clone()) };
        Activate { x, times: Some(&up[range]), activation }
    });
}

/// Bounds each number of `x`: `cap * tanh(x / cap)`.
pub(super) fn cap(x: &mut [f32], cap: f32) {
    by_row(x, 1, |x| Capped { x, cap });
}

fn by_row<'a, K: Kernel<Output = ()>>(
    x: &'a mut [f32],
    width: usize,
    kernel: impl Fn(&'a mut [f32]) -> K + Sync,
) {
    let rows = x.len() / width;
    let x = Disjoint::new(x);
    in_rows(rows, width, |rows| {
        // SAFETY: `in_rows` gives each row to one task.
        kernel(unsafe { x.part(rows.start * width..rows.end * width) })
    });
}

/// Splits rows into one range per thread, or into fewer where there is little work.
pub(super) fn in_rows<K: Kernel<Output = ()>>(
    rows: usize,
    width: usize,
    kernel: impl Fn(Range<usize>) -> K + Sync,
) {
    /// Numbers that a thread computes in the time it takes to hand work to another thread.
    const FEW: usize = 1 << 14;
    let cpu = Cpu::current();
    let tasks = (rows * width / FEW).clamp(1, cpu.threads());
    let share = rows.div_ceil(tasks);
    cpu.for_each(tasks, |task| {
        let range = rows.min(task * share)..rows.min((task + 1) * share);
        cpu.simd().dispatch(kernel(range));
    });
}

struct Norm<'a> {
    x: &'a mut [f32],
    weight: &'a [f32],
    /// With a bias, the mean is subtracted too (LayerNorm).
    bias: Option<&'a [f32]>,
    eps: f32,
}

impl Kernel for Norm<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { x, weight, bias, eps } = self;
        let d = weight.len() as f32;
        for x in x.chunks_exact_mut(weight.len()) {
            if bias.is_some() {
                let mean = sum_of(x, |sum, x| sum + x) / d;
                x.iter_mut().for_each(|x| *x -= mean);
            }
            let mean_square = sum_of(x, |sum, x| fma(x, x, sum)) / d;
            let scale = 1.0 / (mean_square + eps).sqrt();
            for (x, weight) in x.iter_mut().zip(weight) {
                *x = *x * scale * weight;
            }
            for (x, bias) in x.iter_mut().zip(bias.unwrap_or_default()) {
                *x += bias;
            }
        }
    }
}

/// A sum over a row, in an order that depends on its length only: each of 32 lanes takes every
/// 32nd number, then the lanes are added in pairs.
#[inline(always)]
pub(super) fn sum_of(x: &[f32], add: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (whole, rest) = x.as_chunks::<LANES>();
    for x in whole {
        for (lane, x) in lanes.iter_mut().zip(x) {
            *lane = add(*lane, *x);
        }
    }
    for (lane, x) in lanes.iter_mut().zip(rest) {
        *lane = add(*lane, *x);
    }
    sum_lanes(lanes)
}

/// The sum of 32 lanes: the upper half is added to the lower one until one is left.
#[inline(always)]
pub(super) fn sum_lanes(mut lanes: [f32; LANES]) -> f32 {
    let mut left = LANES / 2;
    while left > 0 {
        for lane in 0..left {
            lanes[lane] += lanes[lane + left];
        }
        left /= 2;
    }
    lanes[0]
}

struct Rotate<'a> {
    x: &'a mut [f32],
    width: usize,
    head_dim: usize,
    /// The numbers of angles of a position.
    half: usize,
    cos: &'a [f32],
    sin: &'a [f32],
}

impl Kernel for Rotate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { x, width, head_dim, half, cos, sin } = self;
        let angles = cos.chunks_exact(half).zip(sin.chunks_exact(half));
        for (row, (cos, sin)) in x.chunks_exact_mut(width).zip(angles) {
            for head in row.chunks_exact_mut(head_dim) {
                let (first, second) = head[..2 * half].split_at_mut(half);
                let points = first.iter_mut().zip(second);
                for ((x, y), (cos, sin)) in points.zip(cos.iter().zip(sin)) {
                    let (turned_x, turned_y) =
                        (fma(*x, *cos, -(*y * sin)), fma(*y, *cos, *x * sin));
                    (*x, *y) = (turned_x, turned_y);
                }
            }
        }
    }
}

struct Capped<'a> {
    x: &'a mut [f32],
    cap: f32,
}

impl Kernel for Capped<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        self.x.iter_mut().for_each(|x| *x = self.cap * tanh(*x / self.cap));
    }
}

struct Activate<'a> {
    x: &'a mut [f32],
    times: Option<&'a [f32]>,
    activation: Activation,
}

impl Kernel for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        match self.activation {
            Activation::Silu => activate_each(self.x, self.times, silu, |times| times),
            Activation::Gelu => activate_each(self.x, self.times, gelu, |times| times),
            Activation::Sigmoid => activate_each(self.x, self.times, sigmoid, |times| times),
            Activation::GeluTanh => activate_each(self.x, self.times, gelu_tanh, |times| times),
            Activation::ClampedSilu => {
                let limit = Activation::CLAMP;
                let clamped = |x: f32| sharp_silu(x.min(limit), Activation::SHARPNESS);
                activate_each(self.x, self.times, clamped, |times| {
                    times.clamp(-limit, limit) + 1.0
                });
            }
        }
    }
}

/// `function` of each `x`, times what `factor` makes of the number in `times`.
#[inline(always)]
fn activate_each(
    x: &mut [f32],
    times: Option<&[f32]>,
    function: impl Fn(f32) -> f32,
    factor: impl Fn(f32) -> f32,
) {
    match times {
        None => x.iter_mut().for_each(|x| *x = function(*x)),
        Some(times) => {
            for (x, times) in x.iter_mut().zip(times) {
                *x = function(*x) * factor(*times);
            }
        }
    }
}
