//! The router of a layer with experts, for one token.

/// Computes one expert for the token, by its number: `[d_model]`.
pub type Expert<'a> = dyn FnMut(usize) -> Vec<f32> + 'a;

/// A layer with experts has many feed-forward networks, and each token uses a few. Which ones, and
/// how much of each? Return the weighted sum of what they compute for a token, `[d_model]`.
///
/// - `scores`, `[experts]`, come from the router, all finite, and none is -0.0. Their softmax over
///   all experts gives the weights.
/// - The `per_token` experts with the greatest scores are taken, at least one. Of equal ones, the
///   ones with the smaller numbers.
/// - If `renormalized`, divide the weights of the experts taken by their sum, so that they sum to
///   1.
/// - Each expert that is taken is computed once, in the order of their numbers. No other is
///   computed.
///
/// ```text
/// scores [0, 2, 1], 2 per token; experts give [1, 0], [0, 1] and [1, 1]
///
/// the softmax is about 0.09, 0.67 and 0.24, so experts 1 and 2 are taken
/// as they are         0.67 * [0, 1] + 0.24 * [1, 1] = [0.24, 0.91]
/// renormalized        0.73 * [0, 1] + 0.27 * [1, 1] = [0.27, 1.00]
/// ```
pub fn mixture(
    scores: &[f32],
    per_token: usize,
    renormalized: bool,
    expert: &mut Expert<'_>,
) -> Vec<f32> {
    todo!()
}
