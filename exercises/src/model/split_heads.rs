//! One wide vector, several heads.

use burn::tensor::Tensor;

/// A projection gives each position one wide vector, but attention wants a vector for each head. So
/// split it.
///
/// `[batch, seq, heads * head_dim]` -> `[batch, heads, seq, head_dim]`. The first `head_dim`
/// numbers of a position belong to head 0, the next ones to head 1, and so on.
///
/// ```text
/// one text, two positions, two heads of two numbers:
///
///   position 0:  1 2 3 4            head 0:  1 2      head 1:  3 4
///   position 1:  5 6 7 8     ->              5 6               7 8
/// ```
pub fn split_heads(x: Tensor<3>, head_dim: usize) -> Tensor<4> {
    todo!()
}

/// The way back: `[batch, heads, seq, head_dim]` -> `[batch, seq, heads * head_dim]`.
pub fn merge_heads(x: Tensor<4>) -> Tensor<3> {
    todo!()
}
