//! One wide vector, several heads.
//!
//! Why: `reshape` never moves a number, it only draws other borders. The numbers of a position are
//! adjacent, so you can cut its heads there: `[batch, seq, heads, head_dim]`. Putting heads before
//! positions is a matter of order, and `swap_dims` does it.
//!
//! What it costs: the split is a view. A reshape after a swap has to copy, because the numbers no
//! longer lie in the order in which they are read: that happens in `merge_heads`.
//!
//! A common wrong turn: a single `reshape` into `[batch, heads, seq, head_dim]`. The shape is right
//! and the numbers are not: positions and heads are mixed, and no error tells you.

use burn::tensor::Tensor;

/// `[batch, seq, heads * head_dim]` -> `[batch, heads, seq, head_dim]`
pub fn split_heads(x: Tensor<3>, head_dim: usize) -> Tensor<4> {
    let [batch, seq, width] = x.dims();
    x.reshape([batch, seq, width / head_dim, head_dim]).swap_dims(1, 2)
}

/// `[batch, heads, seq, head_dim]` -> `[batch, seq, heads * head_dim]`
pub fn merge_heads(x: Tensor<4>) -> Tensor<3> {
    let [batch, heads, seq, head_dim] = x.dims();
    x.swap_dims(1, 2).reshape([batch, seq, heads * head_dim])
}
