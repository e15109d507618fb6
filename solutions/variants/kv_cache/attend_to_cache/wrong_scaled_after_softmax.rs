//! The scale comes after the softmax: the weights no longer have the sum 1.

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;

pub fn attend_to_cache(query: Tensor<4>, keys: Tensor<4>, values: Tensor<4>) -> Tensor<4> {
    let [batch, n_heads, _, head_dim] = query.dims();
    let n_kv_heads = keys.dims()[1];
    let query = query.reshape([batch, n_kv_heads, n_heads / n_kv_heads, head_dim]);
    let scores = query.matmul(keys.transpose());
    let weights = softmax(scores, 3) / (head_dim as f64).sqrt(); // [batch, n_kv_heads, group, length]
    weights.matmul(values).reshape([batch, n_heads, 1, head_dim])
}
