//! The heads come in the reverse order.

use burn::tensor::Tensor;

pub fn split_heads(x: Tensor<3>, head_dim: usize) -> Tensor<4> {
    let [batch, seq, width] = x.dims();
    x.reshape([batch, seq, width / head_dim, head_dim]).swap_dims(1, 2).flip([1])
}

pub fn merge_heads(x: Tensor<4>) -> Tensor<3> {
    let [batch, heads, seq, head_dim] = x.dims();
    x.swap_dims(1, 2).reshape([batch, seq, heads * head_dim])
}
