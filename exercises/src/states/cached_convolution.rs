//! A convolution with a cache.

/// A short convolution mixes the last few positions of each channel. Compute it for new positions, and
/// remember what the next ones will need.
///
/// `weights` is `[channels][width]`, that of the earliest position first and that of the position
/// itself last. `state` is `[width - 1][channels]`: the inputs of the positions before `rows`, in
/// their order, zeros before the text. `rows` is `[seq][channels]`; you return the same shape.
///
/// - An output of a channel is the sum of the last `width` inputs of this channel, the position's own
///   among them, each times its weight.
/// - Afterwards `state` has the last `width - 1` inputs, with the new ones.
/// - So a text gives the same outputs whole, in chunks, and position by position.
///
/// ```text
/// one channel, weights [1, 10, 100], state [[0], [0]]
///
/// rows [[1], [2], [3]]  ->  [[100], [210], [321]], and the state is [[2], [3]]
/// rows [[4]]            ->  [[432]],               and the state is [[3], [4]]
/// ```
pub fn cached_convolution(
    weights: &[Vec<f32>],
    state: &mut [Vec<f32>],
    rows: &[Vec<f32>],
) -> Vec<Vec<f32>> {
    todo!()
}
