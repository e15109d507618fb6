//! A bug hunt: attention that looks ahead.
//!
//! Why: the mask came after the softmax. By then the hidden positions had taken their share of the
//! sum, so the remaining weights summed to less than 1. Most was hidden at the beginning, so there
//! the sum was smallest. The share grew with the keys of later tokens, which is how the earlier
//! positions noticed them. Give the hidden scores -inf before the softmax instead: their weight is
//! 0 before the sum is taken.
//!
//! What it costs: nothing. It is the same work in another order.
//!
//! A common wrong turn: keeping the order, and dividing the weights by their sum again. On paper
//! that is the same. In floating point it isn't: if a later key fits far better, all weights up to
//! the position underflow to 0, and 0 / 0 is NaN.

use burn::tensor::{Bool, Tensor, activation::softmax};

/// Causal attention over a whole text: `q`, `k`, `v` and the result are
/// `[batch, heads, seq, head_dim]`.
pub fn causal_attention(q: Tensor<4>, k: Tensor<4>, v: Tensor<4>) -> Tensor<4> {
    let [_, _, seq, head_dim] = q.dims();
    let later = Tensor::<2, Bool>::tril_mask([seq, seq], 0, &q.device());
    let scores = q.matmul(k.transpose()) / (head_dim as f64).sqrt(); // [batch, heads, seq, seq]
    let scores = scores.mask_fill(later.unsqueeze::<4>(), f32::NEG_INFINITY);
    softmax(scores, 3).matmul(v)
}
