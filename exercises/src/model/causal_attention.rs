//! A bug hunt: attention that looks ahead.

use burn::tensor::{Bool, Tensor, activation::softmax};

/// Causal attention over a whole text: each position gets the mean of the values up to its own,
/// weighted by how well their keys fit its query.
///
/// `q`, `k` and `v` are `[batch, heads, seq, head_dim]`, and so is the result. Position 0 can only
/// look at itself, so it gets its own value, unchanged.
///
/// This code compiles and runs, and something is wrong with it. What was observed:
///
/// - The last position is right. The positions before it get vectors that are too short, usually
///   the shorter the earlier they are.
/// - When a token at the end of the text was exchanged, the vectors before it changed in length, as
///   if they had seen it.
///
/// Find the mistake, explain to yourself why it has these effects, and fix it.
pub fn causal_attention(q: Tensor<4>, k: Tensor<4>, v: Tensor<4>) -> Tensor<4> {
    let [_, _, seq, head_dim] = q.dims();
    let later = Tensor::<2, Bool>::tril_mask([seq, seq], 0, &q.device());
    let scores = q.matmul(k.transpose()) / (head_dim as f64).sqrt(); // [batch, heads, seq, seq]
    let weights = softmax(scores, 3);
    let weights = weights.mask_fill(later.unsqueeze::<4>(), 0.0);
    weights.matmul(v)
}
