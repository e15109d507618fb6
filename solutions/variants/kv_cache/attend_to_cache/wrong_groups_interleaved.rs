//! Query heads take turns: head 0 reads the first key/value head, head 1 the second.

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;

pub fn attend_to_cache(query: Tensor<4>, keys: Tensor<4>, values: Tensor<4>) -> Tensor<4> {
    let [batch, n_heads, _, head_dim] = query.dims();
    let n_kv_heads = keys.dims()[1];
    let query = query.reshape([batch, n_heads / n_kv_heads, n_kv_heads, head_dim]).swap_dims(1, 2);
    let scores = query.matmul(keys.transpose()) / (head_dim as f64).sqrt();
    let weights = softmax(scores, 3); // [batch, n_kv_heads, group, length]
    weights.matmul(values).swap_dims(1, 2).reshape([batch, n_heads, 1, head_dim])
}
