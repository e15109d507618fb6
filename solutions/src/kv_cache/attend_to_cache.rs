//! Attention of one new token over the cached keys and values.
//!
//! Why: there is one query for each head, and the query heads of a group read the same keys. So
//! stack the queries of a group as the rows of one matrix, `[group, head_dim]`. Then you don't have
//! to repeat the keys, and two matrix products do it all. Nothing is later than the newest token,
//! so there is no mask.
//!
//! What it costs: `2 * n_heads * length * head_dim` multiplications, and reading all keys and
//! values. This is the part of a step that grows with the text.
//!
//! A common wrong turn: leaving out the scale. The weights still have the sum 1 and the result
//! looks sensible, but the best key gets nearly everything.

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;

/// What the newest token gets from all tokens in the cache, itself included.
///
/// `query` is `[batch, n_heads, 1, head_dim]`, `keys` and `values` are `[batch, n_kv_heads,
/// length, head_dim]`; returns `[batch, n_heads, 1, head_dim]`.
pub fn attend_to_cache(query: Tensor<4>, keys: Tensor<4>, values: Tensor<4>) -> Tensor<4> {
    let [batch, n_heads, _, head_dim] = query.dims();
    let n_kv_heads = keys.dims()[1];
    let query = query.reshape([batch, n_kv_heads, n_heads / n_kv_heads, head_dim]);
    let scores = query.matmul(keys.transpose()) / (head_dim as f64).sqrt();
    let weights = softmax(scores, 3); // [batch, n_kv_heads, group, length]
    weights.matmul(values).reshape([batch, n_heads, 1, head_dim])
}
