//! One slice for each head, laid below each other, and side by side again.

use burn::tensor::{Tensor, s};

pub fn split_heads(x: Tensor<3>, head_dim: usize) -> Tensor<4> {
    let [_, _, width] = x.dims();
    let heads = (0..width / head_dim)
        .map(|h| x.clone().slice(s![.., .., h * head_dim..(h + 1) * head_dim]))
        .collect();
    Tensor::stack(heads, 1)
}

pub fn merge_heads(x: Tensor<4>) -> Tensor<3> {
    let [batch, heads, seq, head_dim] = x.dims();
    let head = |h: usize| x.clone().slice(s![.., h, .., ..]).reshape([batch, seq, head_dim]);
    Tensor::cat((0..heads).map(head).collect(), 2)
}
