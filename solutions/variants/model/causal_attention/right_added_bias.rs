//! By adding -inf where looking is forbidden, before the softmax.

use burn::tensor::{Bool, Tensor, activation::softmax};

pub fn causal_attention(q: Tensor<4>, k: Tensor<4>, v: Tensor<4>) -> Tensor<4> {
    let [_, _, seq, head_dim] = q.dims();
    let q_device = q.device();
    let later = Tensor::<2, Bool>::tril_mask([seq, seq], 0, &q_device);
    let scores = q.matmul(k.transpose()) / (head_dim as f64).sqrt(); // [batch, heads, seq, seq]
    let bias = Tensor::<2>::zeros([seq, seq], &q_device).mask_fill(later, f32::NEG_INFINITY);
    softmax(scores + bias.unsqueeze::<4>(), 3).matmul(v)
}
