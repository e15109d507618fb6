//! Attention of one new token over the cached keys and values.

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;

/// The keys and values of all earlier tokens are in the cache, so only the newest token has a
/// query. What does it get from all of them, itself included?
///
/// `query` is `[batch, n_heads, 1, head_dim]`. `keys` and `values` are
/// `[batch, n_kv_heads, length, head_dim]`, and the newest token's own are the last of them. Return
/// `[batch, n_heads, 1, head_dim]`: for each query head the mean of the values, weighted by the
/// softmax of the scores.
///
/// - The score of a position is the dot product of query and key, divided by the square root of
///   `head_dim`.
/// - `n_heads` is a multiple of `n_kv_heads`. With `group = n_heads / n_kv_heads`, the first
///   `group` query heads read the first key/value head, the next `group` the second, and so on.
/// - The newest token may look at everything, so you need no mask.
///
/// The result is the last row of attention over the whole text.
///
/// ```text
/// one head, head_dim 4, two positions
/// query   1 0 0 0
/// keys    4 0 0 0      scores  4 / 2 = 2     weights  0.881
///         0 0 0 0              0 / 2 = 0              0.119
/// values  1 0 0 0
///         0 1 0 0      result  0.881 0.119 0 0
/// ```
pub fn attend_to_cache(query: Tensor<4>, keys: Tensor<4>, values: Tensor<4>) -> Tensor<4> {
    todo!()
}
