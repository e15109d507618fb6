//! A convolution with a cache.
//!
//! Why: an output needs the last `width` inputs. Those of earlier chunks are in the state, so put state and new rows
//! into one list, and every output is a window of it. What is left at its end is the next state.
//!
//! What it costs: a copy of the inputs, which is little next to the matrices around a convolution. The state is as
//! large as `width - 1` rows, however long the text is.
//!
//! A common wrong turn: taking the next state from the new rows alone. A decode step has one row, and the state needs
//! more.

/// The outputs of a causal convolution of each channel, `[seq][channels]`. `state` becomes what follows need.
pub fn cached_convolution(
    weights: &[Vec<f32>],
    state: &mut [Vec<f32>],
    rows: &[Vec<f32>],
) -> Vec<Vec<f32>> {
    let inputs = [&*state, rows].concat();
    state.clone_from_slice(&inputs[rows.len()..]);
    let width = inputs.len() - rows.len() + 1;
    let output = |inputs: &[Vec<f32>]| -> Vec<f32> {
        let of_channel = |(channel, weights): (usize, &Vec<f32>)| {
            inputs.iter().zip(weights).map(|(input, weight)| input[channel] * weight).sum()
        };
        weights.iter().enumerate().map(of_channel).collect()
    };
    inputs.windows(width).map(output).collect()
}
