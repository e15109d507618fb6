//! Head h has every number at a place that leaves the rest h.

use burn::tensor::Tensor;

pub fn split_heads(x: Tensor<3>, head_dim: usize) -> Tensor<4> {
    let [batch, seq, width] = x.dims();
    x.reshape([batch, seq, head_dim, width / head_dim]).swap_dims(2, 3).swap_dims(1, 2)
}

pub fn merge_heads(x: Tensor<4>) -> Tensor<3> {
    let [batch, heads, seq, head_dim] = x.dims();
    x.swap_dims(1, 2).swap_dims(2, 3).reshape([batch, seq, heads * head_dim])
}
