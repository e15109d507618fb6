//! The short convolution of layers that keep a state instead of keys and values.

use super::disjoint::Disjoint;
use super::elementwise::in_rows;
use super::simd::{Isa, Kernel, fma};

/// The weights of a causal convolution with weights of its own for each channel.
#[derive(Debug, Clone)]
pub(crate) struct Convolution {
    /// `[width, channels]`: those of the earliest position first.
    weights: Vec<f32>,
    /// `[channels]`
    bias: Option<Vec<f32>>,
    width: usize,
}

impl Convolution {
    /// Of weights as checkpoints have them, `[channels, width]`.
    pub(crate) fn new(weights: &[f32], width: usize, bias: Option<Vec<f32>>) -> Self {
        let taps = (0..width).flat_map(|tap| weights.iter().skip(tap).step_by(width));
        Self { weights: taps.copied().collect(), bias, width }
    }

    fn channels(&self) -> usize {
        self.weights.len() / self.width
    }

    /// How many positions take part in one.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The numbers of a state: the inputs of the last positions that the next one needs.
    pub(crate) fn state(&self) -> usize {
        self.weights.len() - self.channels()
    }

    /// What it makes of `rows`, `[seq, channels]`, which follow those in `state`: the same shape. They become
    /// part of the state.
    pub(crate) fn forward(&self, state: &mut [f32], rows: &[f32]) -> Vec<f32> {
        let channels = self.channels();
        let inputs = [&*state, rows].concat();
        state.copy_from_slice(&inputs[rows.len()..]);
        let mut y = vec![0.0; rows.len()];
        let cells = Disjoint::new(&mut y);
        in_rows(rows.len() / channels, channels, |rows| Convolve {
            inputs: &inputs[rows.start * channels..],
            // SAFETY: `in_rows` gives each row to one task.
            y: unsafe { cells.part(rows.start * channels..rows.end * channels) },
            convolution: self,
        });
        y
    }
}

struct Convolve<'a> {
    /// Those of the first position that the first row needs, and what follows.
    inputs: &'a [f32],
    y: &'a mut [f32],
    convolution: &'a Convolution,
}

impl Kernel for Convolve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self) {
        let Self { inputs, y, convolution } = self;
        let channels = convolution.channels();
        for (i, y) in y.chunks_exact_mut(channels).enumerate() {
            if let Some(bias) = &convolution.bias {
                y.copy_from_slice(bias);
            }
            let inputs = inputs[i * channels..].chunks_exact(channels);
            for (x, weights) in inputs.zip(convolution.weights.chunks_exact(channels)) {
                for ((y, x), weight) in y.iter_mut().zip(x).zip(weights) {
                    *y = fma(*x, *weight, *y);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two channels, and three taps.
    #[test]
    fn each_position_is_a_sum_over_the_last_few() {
        let convolution =
            Convolution::new(&[1.0, 10.0, 100.0, 2.0, 0.0, 1.0], 3, Some(vec![0.0, 0.5]));
        let rows = [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0];
        let expected = [100.0, 1.5, 210.0, 2.5, 321.0, 5.5, 432.0, 8.5];
        for chunk in [2, 4, 6, 8] {
            let mut state = vec![0.0; convolution.state()];
            let chunks = rows.chunks(chunk).map(|rows| convolution.forward(&mut state, rows));
            assert_eq!(chunks.flatten().collect::<Vec<_>>(), expected, "{chunk}");
            assert_eq!(state, [3.0, 3.0, 4.0, 4.0]);
        }
    }
}
